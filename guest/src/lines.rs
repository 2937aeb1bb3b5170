//! The lines around a place in a file, read as they are asked for: what stands
//! before and after a match, and as much of a line as is shown. Memory does not
//! grow with the file or its lines.

use std::ops::Range;
use std::str;

use memchr::{memchr, memrchr};

use crate::text::{EXCERPT_BYTES, excerpt};

/// What is read at once around a place, in bytes, and where such reads begin.
const PAGE: u64 = 32 << 10;
/// The most that is asked of what is in memory at once, in bytes; less than a page.
const STEP: u64 = 4 << 10;

/// The most that is shown of a line that does not match itself, in bytes.
pub(crate) const CONTEXT_BYTES: usize = 256;

/// Where the bytes of a file come from.
pub(crate) trait Source {
    /// Why reading failed.
    type Error;

    /// At most `len` bytes from `offset`: none only where nothing is.
    fn read(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, Self::Error>;
}

/// What is shown of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Whether something of the line is missing before the text, and after it.
    pub(crate) cut: (bool, bool),
}

/// A file, and the part of it that was read last.
pub(crate) struct Lines<S> {
    source: S,
    size: u64,
    block: Vec<u8>,
    /// Where in the file the block begins.
    at: u64,
}

impl<S: Source> Lines<S> {
    /// A file of `size` bytes; what is behind them is not looked at.
    pub(crate) const fn new(source: S, size: u64) -> Self {
        Self {
            source,
            size,
            block: Vec::new(),
            at: 0,
        }
    }

    /// The next `len` bytes from `offset`, or fewer, but none only at the end.
    pub(crate) fn block(&mut self, offset: u64, len: u64) -> Result<&[u8], S::Error> {
        let len = len.min(self.size.saturating_sub(offset));
        self.block = match len {
            0 => Vec::new(),
            len => self.source.read(offset, len)?,
        };
        self.at = offset;
        Ok(&self.block)
    }

    /// The bytes of `range`, which is no longer than [`STEP`]; fewer if the file has shrunk.
    fn range(&mut self, range: Range<u64>) -> Result<&[u8], S::Error> {
        let end = self.at + self.block.len() as u64;
        if range.start < self.at || range.end > end {
            let page = range.start - range.start % PAGE;
            self.block(page, 2 * PAGE)?;
            // The source may give less than it is asked for.
            while self.at + (self.block.len() as u64) < range.end {
                let end = self.at + self.block.len() as u64;
                let more = self.source.read(end, range.end - end)?;
                if more.is_empty() {
                    break;
                }
                self.block.extend(more);
            }
        }
        let within = |offset: u64| {
            let offset = usize::try_from(offset.saturating_sub(self.at)).unwrap_or(usize::MAX);
            offset.min(self.block.len())
        };
        Ok(&self.block[within(range.start)..within(range.end)])
    }

    /// The line that ends before the one at `start`, without its LF; none that begins before
    /// `floor`, where a line begins.
    pub(crate) fn before(
        &mut self,
        start: u64,
        floor: u64,
    ) -> Result<Option<Range<u64>>, S::Error> {
        if start <= floor {
            return Ok(None);
        }
        let end = start - 1;
        let mut from = end;
        while from > floor {
            let low = floor.max(from.saturating_sub(STEP));
            if let Some(feed) = memrchr(b'\n', self.range(low..from)?) {
                return Ok(Some(low + feed as u64 + 1..end));
            }
            from = low;
        }
        Ok(Some(floor..end))
    }

    /// The line that begins at `start`, without its LF.
    pub(crate) fn after(&mut self, start: u64) -> Result<Option<Range<u64>>, S::Error> {
        if start >= self.size {
            return Ok(None);
        }
        let mut from = start;
        while from < self.size {
            let to = self.size.min(from + STEP);
            if let Some(feed) = memchr(b'\n', self.range(from..to)?) {
                return Ok(Some(start..from + feed as u64));
            }
            from = to;
        }
        Ok(Some(start..self.size))
    }

    /// Whether all of a line is UTF-8, however long it is.
    fn is_text(&mut self, line: &Range<u64>) -> Result<bool, S::Error> {
        let mut from = line.start;
        while from < line.end {
            let to = line.end.min(from + STEP);
            match str::from_utf8(self.range(from..to)?) {
                Ok(_) => from = to,
                // A character goes on behind the step.
                Err(error)
                    if to < line.end && error.error_len().is_none() && error.valid_up_to() > 0 =>
                {
                    from += error.valid_up_to() as u64;
                }
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The beginning of a line, at most [`CONTEXT_BYTES`]. None: it is not UTF-8.
    pub(crate) fn beginning(&mut self, line: &Range<u64>) -> Result<Option<Shown>, S::Error> {
        if !self.is_text(line)? {
            return Ok(None);
        }
        let mut shown = self.around(line, line.start..line.start)?;
        if let Some(Shown { text, cut }) = &mut shown
            && text.len() > CONTEXT_BYTES
        {
            text.truncate(text.floor_char_boundary(CONTEXT_BYTES));
            cut.1 = true;
        }
        Ok(shown)
    }

    /// As much of `line` around `part` of it as is shown; `part` is not longer than that. None:
    /// it is not UTF-8.
    pub(crate) fn around(
        &mut self,
        line: &Range<u64>,
        part: Range<u64>,
    ) -> Result<Option<Shown>, S::Error> {
        let reach = EXCERPT_BYTES as u64;
        let from = line.start.max(part.start.saturating_sub(reach));
        // A character more than is shown, so that what is cut off is known to be missing.
        let to = line.end.min(part.end + reach + 4);
        let bytes = self.range(from..to)?;
        // The edges may lie inside characters.
        let cut = match from > line.start {
            true => bytes
                .iter()
                .take_while(|byte| **byte & 0xC0 == 0x80)
                .count(),
            false => 0,
        };
        let bytes = &bytes[cut..];
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if to < line.end && error.error_len().is_none() => {
                str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Ok(None),
        };
        let whole = match to == line.end {
            true => text.strip_suffix('\r').unwrap_or(text),
            false => text,
        };
        let within = |offset: u64| ((offset - from) as usize).saturating_sub(cut);
        let (start, end) = (within(part.start), within(part.end));
        if !whole.is_char_boundary(start) || !whole.is_char_boundary(end) {
            // The file has changed since the part was found.
            return Ok(None);
        }
        let text = excerpt(whole, start, end);
        let skipped = text.as_ptr() as usize - whole.as_ptr() as usize;
        Ok(Some(Shown {
            text: text.to_owned(),
            cut: (
                from > line.start || skipped > 0,
                to < line.end || skipped + text.len() < whole.len(),
            ),
        }))
    }
}
