//! Counting, in memory that does not grow with the file. It knows nothing of
//! tools and is tested where it is built: `cargo test`.

use std::io::{self, Read};

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// What there is in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lines: u64,
    pub words: u64,
    pub bytes: u64,
}

/// Counts what `file` holds; nothing if that is more than `limit` bytes.
pub fn count(mut file: impl Read, limit: u64) -> io::Result<Option<Counts>> {
    let mut counts = Counts::default();
    let mut chunk = vec![0; CHUNK];
    let (mut in_word, mut in_line) = (false, false);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            // The last line need not end.
            counts.lines += u64::from(in_line);
            return Ok(Some(counts));
        }
        counts.bytes += read as u64;
        if counts.bytes > limit {
            return Ok(None);
        }
        for byte in &chunk[..read] {
            let space = byte.is_ascii_whitespace();
            counts.words += u64::from(!space && !in_word);
            counts.lines += u64::from(*byte == b'\n');
            in_word = !space;
            in_line = *byte != b'\n';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, count};
    use std::io::Read;

    fn counts(lines: u64, words: u64, bytes: u64) -> Option<Counts> {
        Some(Counts {
            lines,
            words,
            bytes,
        })
    }

    fn of(text: &str) -> Option<Counts> {
        count(text.as_bytes(), 1 << 20).expect("memory is readable")
    }

    #[test]
    fn lines_words_and_bytes_are_counted() {
        assert_eq!(of(""), counts(0, 0, 0));
        assert_eq!(of("\n\n"), counts(2, 0, 2));
        assert_eq!(of("one two\n three\tfour\r\n"), counts(2, 4, 21));
        assert_eq!(of("grüße aus köln"), counts(1, 3, 17));
    }

    #[test]
    fn a_word_across_two_reads_is_one() {
        let halves = "ab".as_bytes().chain("cd ef".as_bytes());
        assert_eq!(count(halves, 100).expect("readable"), counts(1, 2, 7));
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_counted() {
        assert_eq!(count("12345".as_bytes(), 4).expect("readable"), None);
        assert_eq!(
            count("1234".as_bytes(), 4).expect("readable"),
            counts(1, 1, 4)
        );
    }
}
