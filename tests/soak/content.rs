//! What is written into the files that the client alone changes. The words that
//! the searches look for stand in no other file of the root.

use super::random::Random;

/// How many words there are to look for.
const WORDS: usize = 40;

/// The length of a file has this remainder in turn, so that no two files that are written within
/// one tick of the disk's clock have the same length: a cursor tells them apart by that at least.
const LENGTHS: usize = 64;

/// Makes contents, each another.
#[derive(Debug, Default)]
pub(super) struct Contents {
    made: usize,
}

/// A word that may stand in some lines.
pub(super) fn word(random: &mut Random) -> String {
    format!("word{}", random.below(WORDS))
}

impl Contents {
    /// Text: mostly some lines, now and then many or none.
    pub(super) fn text(&mut self, random: &mut Random) -> String {
        let lines = match random.below(20) {
            0 => 0,
            1 => 100 + random.below(100),
            _ => random.below(12),
        };
        let mut text = String::new();
        for _ in 0..lines {
            let (one, other) = (word(random), word(random));
            let line = match random.below(8) {
                0 => format!("quiet {one} é 界\r\n"),
                1 => format!("QUIET {}\n", other.to_uppercase()),
                2 => "\n".to_owned(),
                3 => format!("\u{feff}quiet\u{2028}{one}\t🙂 \"{other}\\\"\n"),
                _ => format!("quiet {one} and {other}\n"),
            };
            text.push_str(&line);
        }
        self.pad(text.len(), b'.', |pad| text.push_str(pad));
        if random.percent(50) {
            // The last line has an end, and the length its remainder all the same.
            text.pop();
            text.push('\n');
        }
        text
    }

    /// Bytes that are no text: a NUL early, or lines that are not UTF-8 among others.
    pub(super) fn bytes(&mut self, random: &mut Random) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..random.below(9) {
            let line = match random.below(4) {
                0 => b"quiet \xff\xfe\n".to_vec(),
                1 if random.percent(20) => b"quiet \0\n".to_vec(),
                2 => b"\xe7\x95\n".to_vec(),
                _ => format!("quiet {}\n", word(random)).into_bytes(),
            };
            bytes.extend(line);
        }
        self.pad(bytes.len(), b'.', |pad| bytes.extend(pad.as_bytes()));
        bytes
    }

    fn pad(&mut self, length: usize, with: u8, mut push: impl FnMut(&str)) {
        self.made += 1;
        let wanted = self.made % LENGTHS;
        let missing = 2 + (wanted + LENGTHS - (length + 2) % LENGTHS) % LENGTHS;
        push(&char::from(with).to_string().repeat(missing));
    }
}

/// Base64 with padding, as in RFC 4648, section 4.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            match at <= three.len() {
                true => text.push(char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63])),
                false => text.push('='),
            }
        }
    }
    text
}
