//! Several messages in one array, which the oldest revisions have. The array of
//! their answers is written when the last of them is known; what a message says
//! is not known here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::reply::{self, Fault};

/// The most messages in a batch.
const MAX_MESSAGES: usize = 256;

/// How many bytes the answers of a batch may have together: they are kept until
/// the last one is known. Of a full batch, each may have as much as any result
/// has by default.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// The messages of a batch; `array` is an array of JSON.
pub(super) fn split(array: &str) -> Result<Vec<&RawValue>, Fault> {
    let messages = serde_json::from_str::<Messages<'_>>(array)
        .map_err(|_| Fault::parse("the message is not JSON"))?;
    if messages.more {
        return Err(Fault::invalid_request(format!(
            "a batch may hold at most {MAX_MESSAGES} messages"
        )));
    }
    if messages.first.is_empty() {
        return Err(Fault::invalid_request(
            "a batch must hold at least one message",
        ));
    }
    Ok(messages.first)
}

/// No more messages than are taken, and whether there are others.
struct Messages<'a> {
    first: Vec<&'a RawValue>,
    more: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Messages<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Array;

        impl<'de> Visitor<'de> for Array {
            type Value = Messages<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
                let mut first = Vec::new();
                while first.len() < MAX_MESSAGES {
                    match array.next_element()? {
                        Some(message) => first.push(message),
                        None => return Ok(Messages { first, more: false }),
                    }
                }
                let mut more = false;
                while array.next_element::<IgnoredAny>()?.is_some() {
                    more = true;
                }
                Ok(Messages { first, more })
            }
        }

        deserializer.deserialize_seq(Array)
    }
}

/// Where an answer belongs: a batch by its number, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) batch: u64,
    pub(super) at: usize,
}

/// A batch whose answers are not all known.
#[derive(Debug)]
pub(super) struct Batch {
    answers: Vec<(usize, String)>,
    bytes: usize,
    /// Places that nothing is known of yet.
    open: usize,
    /// The bytes that every answer may have.
    share: usize,
    /// The bytes that answers so far have left of their shares.
    spare: usize,
}

impl Batch {
    /// A batch of so many places.
    pub(super) fn new(places: usize) -> Self {
        Self {
            answers: Vec::new(),
            bytes: 0,
            open: places,
            share: MAX_ANSWER_BYTES / places.max(1),
            spare: 0,
        }
    }

    /// Whether an answer of so many bytes is taken. One that keeps to its share
    /// always is, whatever the others do.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.share + self.spare
    }

    /// Fills a place for good; without an answer it stays empty.
    pub(super) fn fill(&mut self, at: usize, answer: Option<String>) {
        let bytes = answer.as_ref().map_or(0, String::len);
        self.answers.extend(answer.map(|answer| (at, answer)));
        self.bytes += bytes;
        self.spare = (self.spare + self.share).saturating_sub(bytes);
        self.open -= 1;
    }

    /// Whether every place is filled.
    pub(super) fn is_complete(&self) -> bool {
        self.open == 0
    }

    /// Bytes of the answers so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The line of the answers, in the order of their messages; nothing where
    /// nobody is answered.
    pub(super) fn line(mut self) -> Option<String> {
        if self.answers.is_empty() {
            return None;
        }
        self.answers.sort_unstable_by_key(|(at, _)| *at);
        let answers = self.answers.into_iter().map(|(_, answer)| answer);
        Some(reply::array(answers, self.bytes))
    }

    /// What is said in place of an answer there is no room for.
    pub(super) fn no_room() -> Fault {
        Fault::invalid_request(format!(
            "the answers of the batch are longer than {} MiB together; send this request on a line of its own",
            MAX_ANSWER_BYTES >> 20
        ))
    }
}
