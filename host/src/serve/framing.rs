//! Lines out of a reader, as the contract cuts them. It knows nothing of what a
//! line says, but when one may not grow.

use std::io::{self, BufRead, BufReader, Read};

use memchr::memchr;
pub(super) use preopen_contract::framing::Frame;
use preopen_contract::framing::Lines;

use super::order::MUCH;

/// Bytes taken from the stream at a time; a call that is no longer holds little.
const CHUNK: usize = MUCH;

/// Takes a stream apart.
pub(super) struct Frames<R> {
    reader: BufReader<R>,
    lines: Lines,
}

impl<R: Read> Frames<R> {
    /// Lines of at most `limit` bytes.
    pub(super) fn new(reader: R, limit: u64) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, reader),
            lines: Lines::new(limit),
        }
    }

    /// Whether the next line has come already: it need not be waited for.
    pub(super) fn has_next(&self) -> bool {
        memchr(b'\n', self.reader.buffer()).is_some()
    }

    /// Waits for the next line; none at the end. One that turns out to be longer
    /// than a chunk is kept only if it `may_grow`; else the stream ends here.
    pub(super) fn next(&mut self, may_grow: impl Fn() -> bool) -> io::Result<Option<Frame>> {
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(self.lines.end());
            }
            let was_short = self.lines.held() <= CHUNK;
            let (taken, frame) = self.lines.take(chunk);
            self.reader.consume(taken);
            let held = match &frame {
                Some(Frame::Line(line)) => line.len(),
                _ => self.lines.held(),
            };
            if was_short && held > CHUNK && !may_grow() {
                return Ok(None);
            }
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, Read};

    use super::{Frame, Frames};

    /// Hands out its bytes one at a time, interrupted every time.
    struct Drip<'a>(&'a [u8], bool);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let (Some((&byte, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut())
            else {
                return Ok(0);
            };
            (*place, self.0) = (byte, rest);
            Ok(1)
        }
    }

    fn all(input: impl Read, limit: u64) -> Vec<Frame> {
        let mut frames = Frames::new(input, limit);
        let mut seen = Vec::new();
        loop {
            match frames.next(|| true).expect("no error") {
                None => return seen,
                Some(frame) => seen.push(frame),
            }
        }
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let input = b"one\n\ntwo\nlast";
        let expected = [line("one"), line(""), line("two"), line("last")];
        assert_eq!(all(&input[..], 100), expected);
        assert_eq!(all(Drip(input, false), 100), expected);
    }

    #[test]
    fn a_line_past_the_limit_is_dropped_and_the_next_one_read() {
        let input = b"12345\n123456\n12345\n1234567";
        let expected = [line("12345"), Frame::TooLong, line("12345"), Frame::TooLong];
        assert_eq!(all(&input[..], 5), expected);
        assert_eq!(all(Drip(input, false), 5), expected);
    }

    #[test]
    fn a_line_longer_than_a_chunk_asks_once_whether_it_may_be() {
        let asked = Cell::new(0);
        let mut frames = Frames::new(io::repeat(b'x').take(1 << 20), 1 << 20);
        let frame = frames.next(|| {
            asked.set(asked.get() + 1);
            true
        });
        assert!(matches!(frame, Ok(Some(Frame::Line(line))) if line.len() == 1 << 20));
        assert_eq!(asked.get(), 1);
        for (length, expected) in [
            (super::CHUNK, Some(Frame::Line(vec![b'x'; super::CHUNK]))),
            (super::CHUNK + 1, None),
        ] {
            let mut frames = Frames::new(io::repeat(b'x').take(length as u64), 1 << 20);
            assert_eq!(frames.next(|| false).expect("no error"), expected);
        }
    }

    #[test]
    fn a_line_need_not_be_waited_for_once_all_of_it_has_come() {
        let mut frames = Frames::new(&b"one\ntwo\nthree"[..], 100);
        assert!(!frames.has_next());
        for (expected, has_next) in [("one", true), ("two", false), ("three", false)] {
            assert_eq!(
                frames.next(|| true).expect("no error"),
                Some(line(expected))
            );
            assert_eq!(frames.has_next(), has_next, "{expected}");
        }
    }

    #[test]
    fn nothing_of_a_long_line_is_kept() {
        let mut frames = Frames::new(io::repeat(b'x').take(1 << 28), 1 << 10);
        let next = frames.next(|| true).expect("no error");
        assert_eq!(next, Some(Frame::TooLong));
        assert_eq!(frames.next(|| true).expect("no error"), None);
    }
}
