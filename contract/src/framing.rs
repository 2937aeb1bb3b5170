//! Lines out of a byte stream, in bounded memory: a line past the limit is
//! thrown away as it comes, and the stream goes on behind it. It reads nothing
//! itself and knows nothing of what a line says.

/// What came in the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its LF; the last one need not have had one.
    Line(Vec<u8>),
    /// A line that was too long; nothing of it is kept.
    TooLong,
}

/// Takes a stream apart.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// Lines of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            line: Vec::new(),
            too_long: false,
        }
    }

    /// Takes what comes next in the stream, up to the end of a line: how many
    /// bytes that were, and the line if it ended there.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<Frame>) {
        let (part, ended) = match memchr::memchr(b'\n', bytes) {
            Some(end) => (&bytes[..end], true),
            None => (bytes, false),
        };
        if !self.too_long && self.line.len() + part.len() > self.limit {
            self.too_long = true;
            self.line = Vec::new();
        }
        if !self.too_long {
            self.line.extend_from_slice(part);
        }
        let taken = part.len() + usize::from(ended);
        (taken, ended.then(|| self.frame()))
    }

    /// Bytes of a line that are kept until it ends.
    #[must_use]
    pub fn held(&self) -> usize {
        self.line.len()
    }

    /// Takes note that the stream has ended: what came after the last LF.
    pub fn end(&mut self) -> Option<Frame> {
        (self.too_long || !self.line.is_empty()).then(|| self.frame())
    }

    fn frame(&mut self) -> Frame {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            Frame::TooLong
        } else {
            Frame::Line(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Lines};

    /// The frames of `input`, of which so many bytes come at a time.
    fn all(input: &[u8], piece: usize, limit: u64) -> Vec<Frame> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        for mut piece in input.chunks(piece) {
            while !piece.is_empty() {
                let (taken, frame) = lines.take(piece);
                seen.extend(frame);
                piece = &piece[taken..];
            }
        }
        seen.extend(lines.end());
        seen
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let expected = [line("one"), line(""), line("two"), line("last")];
        for piece in 1..20 {
            assert_eq!(all(b"one\n\ntwo\nlast", piece, 100), expected, "{piece}");
        }
    }

    #[test]
    fn a_line_past_the_limit_is_dropped_and_the_next_one_read() {
        let input = b"12345\n123456\n12345\n1234567";
        let expected = [line("12345"), Frame::TooLong, line("12345"), Frame::TooLong];
        for piece in 1..30 {
            assert_eq!(all(input, piece, 5), expected, "{piece}");
        }
    }

    #[test]
    fn nothing_of_a_long_line_is_kept() {
        let mut lines = Lines::new(1 << 10);
        for _ in 0..1 << 12 {
            assert_eq!(lines.take(&[b'x'; 1 << 10]), (1 << 10, None));
            assert!(lines.line.capacity() <= 1 << 10);
        }
        assert_eq!(lines.end(), Some(Frame::TooLong));
        assert_eq!(lines.end(), None);
    }
}
