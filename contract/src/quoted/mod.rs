//! Long strings as they stand in JSON text: where one ends, what it says, and
//! the text without it. Whoever reads JSON does so with serde_json; what is
//! long goes by here, many bytes at once, and is left to serde_json wherever
//! anything about it is wrong. It knows no message and no tool.

mod block;
mod brief;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::block::{BLOCK, LANE, first_backslash, marks, special};
pub use self::brief::Brief;

/// Bytes of an escape by number.
const UNIT: usize = 6;

/// Where the string ends whose content begins at `at`: the place of its closing
/// quote. None if it has none, or if it is not as RFC 8259, section 7, has it,
/// or says what is not Unicode text: a surrogate without the other one.
#[must_use]
#[inline(never)]
pub fn end(text: &[u8], mut at: usize) -> Option<usize> {
    // Bytes at the beginning of a block that an escape before it goes on with.
    let mut skipped = 0;
    let (blocks, rest) = text.get(at..)?.as_chunks::<BLOCK>();
    // Behind the end of the text there is no quote: a control character is an error.
    let mut last = [0; BLOCK];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        let mut found = special(block) & (u64::MAX << skipped);
        skipped = 0;
        while found != 0 {
            let place = found.trailing_zeros() as usize;
            match block.get(place)? {
                b'"' => return Some(at + place),
                b'\\' => {}
                _ => return None,
            }
            let next = place + escape(text, at + place)?;
            if next >= BLOCK {
                skipped = next - BLOCK;
                break;
            }
            found &= u64::MAX << next;
        }
        at += BLOCK;
    }
    None
}

/// The same, many bytes at once, if there is no escape by number in the string
/// nor right behind it. Whether those it has are any is not looked at.
#[inline(never)]
fn end_of_plain(text: &[u8], mut at: usize) -> Option<usize> {
    let (blocks, rest) = text.get(at..)?.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    // Whether the first byte of the block is escaped, as its lowest bit.
    let mut carried = 0;
    for block in blocks.iter().chain([&last]) {
        let marks = marks(block);
        let escaped = escaped(marks.backslash, &mut carried);
        if marks.unit & escaped != 0 {
            return None;
        }
        let found = marks.end & !escaped;
        if found != 0 {
            let place = found.trailing_zeros() as usize;
            return (block.get(place) == Some(&b'"')).then_some(at + place);
        }
        at += BLOCK;
    }
    None
}

/// A bit for each byte that a backslash escapes, of the bits of `backslashes`.
/// In a row of those every other one escapes what follows it.
fn escaped(backslashes: u64, carried: &mut u64) -> u64 {
    /// The bits at even places.
    const EVEN: u64 = u64::MAX / 3;
    // One that is escaped itself begins no row.
    let rows = backslashes & !*carried;
    let follows = rows << 1 | *carried;
    // Adding its first bit to a row carries on to the place behind it: where rows
    // begin at an odd place, the parity of their places is the other one.
    let (sum, over) = rows.overflowing_add(rows & !follows & !EVEN);
    *carried = u64::from(over);
    (EVEN ^ (sum << 1)) & follows
}

/// How many bytes the escape at `at` has; none if it is no escape.
fn escape(text: &[u8], at: usize) -> Option<usize> {
    let letter = *text.get(at + 1)?;
    match short(letter) {
        Some(_) => Some(2),
        None => character(text, at).map(|(_, length)| length),
    }
}

/// What the string says whose content stands in `text` at `content`, where
/// [`end`] has found it; as UTF-8, if that is. The memory of `text` is used for
/// it. None if an escape is wrong.
#[must_use]
pub fn unescaped(mut text: Vec<u8>, content: Range<usize>) -> Option<Vec<u8>> {
    let Range {
        start: mut at,
        mut end,
    } = content;
    text.get(at..end)?;
    // What is moved goes back by the bytes of a lane or more, so that these can be
    // moved at once, however few of them are meant.
    if at < LANE {
        text.splice(..0, [0; LANE]);
        (at, end) = (at + LANE, end + LANE);
    }
    let length = compact(text.get_mut(..end)?, at)?;
    text.truncate(length);
    Some(text)
}

/// Says at the beginning of `text` what the string says whose content is the
/// rest of it from `at`; how many bytes that takes. By itself it is small enough
/// for registers alone.
#[inline(never)]
fn compact(text: &mut [u8], mut at: usize) -> Option<usize> {
    let mut to = 0;
    while at < text.len() {
        let plain = match text.get(at..)?.first_chunk::<LANE>() {
            Some(lane) => {
                let plain = first_backslash(lane);
                let lane = *lane;
                *text.get_mut(to..)?.first_chunk_mut()? = lane;
                plain
            }
            None => {
                let rest = text.get(at..)?.iter();
                let plain = rest.take_while(|byte| **byte != b'\\').count();
                text.copy_within(at..at + plain, to);
                plain
            }
        };
        (at, to) = (at + plain, to + plain);
        if text.get(at) == Some(&b'\\') {
            at += resolve(text, at, &mut to)?;
        }
    }
    Some(to)
}

/// Writes what the escape at `at` stands for; how many bytes that was.
fn resolve(text: &mut [u8], at: usize, to: &mut usize) -> Option<usize> {
    if let Some(meant) = short(*text.get(at + 1)?) {
        *text.get_mut(*to)? = meant;
        *to += 1;
        return Some(2);
    }
    let (character, length) = character(text, at)?;
    let room = text.get_mut(*to..*to + char::MAX.len_utf8())?;
    *to += character.encode_utf8(room).len();
    Some(length)
}

/// What a letter behind a backslash stands for.
fn short(letter: u8) -> Option<u8> {
    let meant = *SHORT.get(usize::from(letter))?;
    (meant != 0).then_some(meant)
}

/// What each letter stands for; zero where it is none. A table takes less than
/// a jump for each.
const SHORT: [u8; 256] = {
    let mut short = [0; 256];
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short[b'/' as usize] = b'/';
    short[b'b' as usize] = 8;
    short[b'f' as usize] = 12;
    short[b'n' as usize] = b'\n';
    short[b'r' as usize] = b'\r';
    short[b't' as usize] = b'\t';
    short
};

/// The character that begins with the code unit at `at`, and how many bytes it
/// takes.
fn character(text: &[u8], at: usize) -> Option<(char, usize)> {
    let first = unit(text, at)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, UNIT));
    }
    let pair = [first, unit(text, at + UNIT)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 2 * UNIT))
}

/// The UTF-16 code unit that the escape at `at` stands for.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = text.get(at..at + UNIT)? else {
        return None;
    };
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}
