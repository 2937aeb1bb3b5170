//! What must hold of cursors, whatever is tried: one that was issued is read,
//! and nothing else is. The tests and the fuzzer check this very code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;

use super::{Cursor, LENGTH, PAYLOAD, Traversal};
use crate::digest::keyed;
use crate::refusal::Refusal;

#[path = "../../../fuzz/properties/choices.rs"]
mod choices;

use choices::Choices;

/// What may stand in a cursor, and what somebody might write instead.
const ALPHABET: &[u8] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/% \n~";

/// Builds cursors of `data` and everything around them.
pub(crate) fn check(data: &[u8]) {
    let mut choices = Choices::new(data);
    let case = Case::new(&mut choices);
    case.holds();
    case.is_bound(&mut choices);
    while !choices.is_empty() {
        let text = case.changed(&mut choices);
        case.judge(&text);
        case.forged(&mut choices);
    }
}

fn array<const N: usize>(choices: &mut Choices<'_>) -> [u8; N] {
    let mut array = [0; N];
    for (to, from) in array.iter_mut().zip(choices.bytes(N)) {
        *to = *from;
    }
    array
}

fn cursor(choices: &mut Choices<'_>) -> Cursor {
    Cursor {
        state: array(choices),
        position: [0; 3].map(|_: u64| u64::from_be_bytes(array(choices))),
    }
}

/// Two cursors of one traversal.
struct Case {
    key: [u8; 32],
    tool: u8,
    arguments: Vec<String>,
    traversal: Traversal,
    issued: [(String, Cursor); 2],
}

impl Case {
    fn new(choices: &mut Choices<'_>) -> Self {
        let key = array(choices);
        let tool = choices.byte();
        let arguments: Vec<String> = (0..choices.below(4))
            .map(|_| {
                let length = choices.below(8);
                String::from_utf8_lossy(choices.bytes(length)).into_owned()
            })
            .collect();
        let traversal = bind(tool, &arguments);
        let issued = [cursor(choices), cursor(choices)]
            .map(|cursor| (traversal.issue(&key, &cursor), cursor));
        Self {
            key,
            tool,
            arguments,
            traversal,
            issued,
        }
    }

    /// What was issued is read, and has the one length and the one alphabet.
    fn holds(&self) {
        for (text, cursor) in &self.issued {
            assert_eq!(text.len(), LENGTH);
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            assert!(text.bytes().all(is_plain), "{text}");
            assert_eq!(self.traversal.read(&self.key, text), Ok(*cursor));
        }
    }

    /// Under another key, for another tool or for other arguments it is refused.
    fn is_bound(&self, choices: &mut Choices<'_>) {
        let (text, _) = &self.issued[0];
        let mut key = self.key;
        key[choices.below(32)] ^= 1 << choices.below(8);
        assert_eq!(self.traversal.read(&key, text), Err(Refusal::Cursor));

        let other = bind(self.tool ^ (1 << choices.below(8)), &self.arguments);
        assert_eq!(other.read(&self.key, text), Err(Refusal::OtherTraversal));

        let mut arguments = self.arguments.clone();
        match choices.below(4) {
            0 => arguments.push(String::new()),
            1 => drop(arguments.pop()),
            2 => arguments.reverse(),
            _ => {
                let end = arguments.pop().unwrap_or_default();
                match arguments.last_mut() {
                    Some(last) => last.push_str(&end),
                    None => arguments.push(end + "x"),
                }
            }
        }
        if arguments != self.arguments {
            let other = bind(self.tool, &arguments);
            assert_eq!(other.read(&self.key, text), Err(Refusal::OtherTraversal));
        }
    }

    /// A text that is only read if it was issued.
    fn judge(&self, text: &str) {
        let issued = self.issued.iter().find(|(issued, _)| issued == text);
        let expected = issued.map_or(Err(Refusal::Cursor), |(_, cursor)| Ok(*cursor));
        assert_eq!(self.traversal.read(&self.key, text), expected, "{text:?}");
    }

    /// One of the cursors after a change, or a text that never was one.
    fn changed(&self, choices: &mut Choices<'_>) -> String {
        let [(text, _), (other, _)] = &self.issued;
        let mut bytes = text.clone().into_bytes();
        let (at, to) = (choices.below(LENGTH), choices.below(LENGTH));
        let letter = ALPHABET[choices.below(ALPHABET.len())];
        match choices.below(11) {
            0 => bytes[at] ^= 1 << (to % 8),
            1 => bytes[at] = letter,
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, letter),
            4 => bytes.swap(at, to),
            5 => bytes.splice(at.., other.bytes().skip(at)).for_each(drop),
            6 => bytes.truncate(at),
            7 => {
                let respelled = match to % 5 {
                    0 => text.replace('-', "+").replace('_', "/"),
                    1 => text.replace('.', "=."),
                    2 => format!("{text}="),
                    3 => text.to_lowercase(),
                    _ => text.replace('.', ".."),
                };
                bytes = respelled.into_bytes();
            }
            8 => bytes = choices.bytes(LENGTH).to_vec(),
            // The last characters of both parts have bits that say nothing.
            9 => bytes[[LENGTH - 45, LENGTH - 1][to % 2]] = letter,
            _ => {
                let own = choices.bytes(LENGTH - at);
                bytes
                    .splice(at..at + own.len(), own.iter().copied())
                    .for_each(drop);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A payload that the key itself has signed is read in one layout alone:
    /// what it says is all that there is in it.
    fn forged(&self, choices: &mut Choices<'_>) {
        let mut payload = match URL_SAFE_NO_PAD.decode(&self.issued[0].0[..LENGTH - 44]) {
            Ok(payload) => payload,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(payload.len(), PAYLOAD);
        let at = choices.below(PAYLOAD);
        match choices.below(4) {
            0 => payload[at] ^= choices.byte(),
            1 => payload.truncate(at),
            2 => payload.extend(choices.bytes(at)),
            _ => payload = choices.bytes(PAYLOAD).to_vec(),
        }
        let mac = keyed(&self.key).chain_update(&payload).finalize();
        let text = [payload.as_slice(), &mac.into_bytes()]
            .map(|part| URL_SAFE_NO_PAD.encode(part))
            .join(".");
        if let Ok(cursor) = self.traversal.read(&self.key, &text) {
            assert_eq!(self.traversal.issue(&self.key, &cursor), text);
        }
    }
}

fn bind(tool: u8, arguments: &[String]) -> Traversal {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Traversal::new(tool, &arguments)
}
