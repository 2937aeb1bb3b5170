//! JSON text with one long string left out, so that reading it takes little.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes of a string from which on it is left out.
pub(super) const LONG: usize = 4 << 10;

/// How many strings are looked at for one that is long.
pub(super) const STRINGS: usize = 256;

/// JSON text, or what may be some, without the content of the first long string
/// in it that is the value of a member. What remains is JSON where the whole is,
/// with the same members, and an error where the whole is one.
#[derive(Debug)]
pub struct Brief<'a> {
    whole: &'a str,
    text: Cow<'a, str>,
    left_out: Option<LeftOut>,
}

/// What is left out.
#[derive(Debug)]
struct LeftOut {
    /// Where it stands in the whole.
    content: Range<usize>,
    /// Where it belongs in the text without it.
    at: usize,
}

impl<'a> Brief<'a> {
    /// `whole` without its long string, if there is one.
    #[must_use]
    pub fn of(whole: &'a str) -> Self {
        Self::with(whole, super::end)
    }

    /// The same of what somebody else has found to be JSON, which takes less. If
    /// it is not, what is left out may hold what is no escape:
    /// [`unescaped`](super::unescaped) finds that.
    #[must_use]
    pub fn of_json(whole: &'a str) -> Self {
        Self::with(whole, |text, at| {
            super::end_of_plain(text, at).or_else(|| super::end(text, at))
        })
    }

    fn with(whole: &'a str, end: impl Fn(&[u8], usize) -> Option<usize>) -> Self {
        let content = long(whole.as_bytes(), end);
        let cut = content.and_then(|content| {
            let (before, after) = (whole.get(..content.start)?, whole.get(content.end..)?);
            Some((content, [before, after]))
        });
        match cut {
            None => Self {
                whole,
                text: Cow::Borrowed(whole),
                left_out: None,
            },
            Some((content, parts)) => Self {
                whole,
                text: Cow::Owned(parts.concat()),
                left_out: Some(LeftOut {
                    at: content.start,
                    content,
                }),
            },
        }
    }

    /// The text that is to be read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether something is left out.
    #[must_use]
    pub fn is_shorter(&self) -> bool {
        self.left_out.is_some()
    }

    /// What `part` is in the whole. It is a part of [`Brief::text`], a value by
    /// itself or several; anything else stays what it is.
    #[must_use]
    pub fn whole<'s>(&'s self, part: &'s str) -> &'s str {
        let Some((left_out, place)) = self.left_out.as_ref().zip(self.place(part)) else {
            return part;
        };
        if !(place.start < left_out.at && left_out.at < place.end) {
            return part;
        }
        let end = place.end + left_out.content.len();
        self.whole.get(place.start..end).unwrap_or(part)
    }

    /// Where in the whole the content of the string stands that `part` is, if it
    /// is the one that was left out.
    #[must_use]
    pub fn content(&self, part: &str) -> Option<Range<usize>> {
        let left_out = self.left_out.as_ref()?;
        let is_it = self.place(part)? == (left_out.at - 1..left_out.at + 1);
        is_it.then(|| left_out.content.clone())
    }

    /// Where `part` stands in the text.
    fn place(&self, part: &str) -> Option<Range<usize>> {
        let start = part
            .as_ptr()
            .addr()
            .checked_sub(self.text.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        (end <= self.text.len()).then_some(start..end)
    }
}

/// Where the content of the first long string stands that is a member's value.
fn long(text: &[u8], end: impl Fn(&[u8], usize) -> Option<usize>) -> Option<Range<usize>> {
    if text.len() < LONG {
        return None;
    }
    let mut at = 0;
    for _ in 0..STRINGS {
        let start = at + memchr::memchr(b'"', text.get(at..)?)? + 1;
        let close = end(text, start)?;
        if close - start >= LONG && is_value(text.get(..start - 1)?) {
            return Some(start..close);
        }
        at = close + 1;
    }
    None
}

/// Whether a member's value is what comes next. Another name it cannot be: names
/// are compared, and may be given twice.
fn is_value(before: &[u8]) -> bool {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    before.iter().rev().find(|byte| !is_space(byte)) == Some(&b':')
}
