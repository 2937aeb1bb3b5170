//! Counting, in memory that does not grow with the file. It knows nothing of
//! tools and is tested where it is built: `cargo test`.

/// What there is in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lines: u64,
    pub words: u64,
    pub bytes: u64,
}

/// Counts what `read` gives from each offset on, until that is nothing; no
/// counts if it is more than `limit` bytes.
pub fn count<E>(
    mut read: impl FnMut(u64) -> Result<Vec<u8>, E>,
    limit: u64,
) -> Result<Option<Counts>, E> {
    let mut counts = Counts::default();
    let (mut in_word, mut in_line) = (false, false);
    loop {
        let bytes = read(counts.bytes)?;
        if bytes.is_empty() {
            // The last line need not end.
            counts.lines += u64::from(in_line);
            return Ok(Some(counts));
        }
        counts.bytes += bytes.len() as u64;
        if counts.bytes > limit {
            return Ok(None);
        }
        for byte in bytes {
            let space = byte.is_ascii_whitespace();
            counts.words += u64::from(!space && !in_word);
            counts.lines += u64::from(byte == b'\n');
            in_word = !space;
            in_line = byte != b'\n';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, count};

    fn counts(lines: u64, words: u64, bytes: u64) -> Option<Counts> {
        Some(Counts {
            lines,
            words,
            bytes,
        })
    }

    /// Counts `text`, of which three bytes are read at once.
    fn of(text: &str, limit: u64) -> Option<Counts> {
        let read = |offset: u64| {
            let rest = &text.as_bytes()[offset as usize..];
            Ok::<_, ()>(rest[..rest.len().min(3)].to_vec())
        };
        count(read, limit).expect("a text is readable")
    }

    #[test]
    fn lines_words_and_bytes_are_counted() {
        assert_eq!(of("", 0), counts(0, 0, 0));
        assert_eq!(of("\n\n", 99), counts(2, 0, 2));
        assert_eq!(of("one two\n three\tfour\r\n", 99), counts(2, 4, 21));
        assert_eq!(of("grüße aus köln", 99), counts(1, 3, 17));
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_counted() {
        assert_eq!(of("12345", 4), None);
        assert_eq!(of("1234", 4), counts(1, 1, 4));
    }

    #[test]
    fn what_cannot_be_read_is_not_counted() {
        assert_eq!(count(|_| Err("gone"), 9), Err("gone"));
    }
}
