//! Finds a literal in the lines of one file, a block at a time: memory does
//! not grow with the file or its lines. Where the bytes come from, and whether
//! there is room for what is found, the caller says.

use std::str;

use memchr::{memchr, memchr_iter, memrchr};

use crate::literal::Literal;
use crate::text::{EXCERPT_BYTES, Utf8Check, excerpt};

/// The most that is read at once, in bytes.
pub(crate) const BLOCK_BYTES: u64 = 1 << 20;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineStart {
    /// Its offset in the file, in bytes.
    pub(crate) offset: u64,
    /// Its number, from 1.
    pub(crate) line: u64,
}

impl LineStart {
    /// The beginning of a file.
    pub(crate) const FIRST: Self = Self { offset: 0, line: 1 };
}

/// A file to scan and what becomes of the matches.
pub(crate) trait Scanned {
    /// Why reading failed.
    type Error;

    /// At most `len` bytes from `offset`, and whether the end of the file was reached.
    fn read(&mut self, offset: u64, len: u64) -> Result<(Vec<u8>, bool), Self::Error>;

    /// Takes a line that matches, as an excerpt. False: there is no room, the scan ends before it.
    fn found(&mut self, line: u64, text: &str) -> bool;
}

/// A query, ready to be looked for.
pub(crate) struct Scanner<'q> {
    literal: Literal<'q>,
}

impl<'q> Scanner<'q> {
    /// `query` is not empty and holds no LF.
    pub(crate) fn new(query: &'q str) -> Self {
        Self {
            literal: Literal::new(query.as_bytes()),
        }
    }

    /// Scans from `at` to the end of the file, or until `budget` bytes are used up, or there is no
    /// room: then the answer is the line to go on with. A line that is begun is finished, however
    /// long it is, so that every scan gets on.
    pub(crate) fn scan<S: Scanned>(
        &self,
        mut at: LineStart,
        budget: &mut u64,
        file: &mut S,
    ) -> Result<Option<LineStart>, S::Error> {
        while *budget > 0 {
            let (block, at_end) = file.read(at.offset, BLOCK_BYTES)?;
            if block.is_empty() {
                return Ok(None);
            }
            // What follows the last LF is read again with the next block, which thereby begins
            // with a line.
            let whole = match memrchr(b'\n', &block) {
                _ if at_end => block.len(),
                Some(last) => last + 1,
                None => {
                    if !self.long_line(&mut at, block, budget, file)? {
                        return Ok(Some(at));
                    }
                    continue;
                }
            };
            if !self.lines(&block[..whole], &mut at, at_end, file) {
                return Ok(Some(at));
            }
            *budget = budget.saturating_sub(whole as u64);
            if at_end {
                return Ok(None);
            }
        }
        Ok(Some(at))
    }

    /// Scans whole lines, the last ones of the file if they are `at_end`. False: no room for the
    /// one that `at` is moved to.
    fn lines<S: Scanned>(
        &self,
        lines: &[u8],
        at: &mut LineStart,
        at_end: bool,
        file: &mut S,
    ) -> bool {
        let length = self.literal.bytes().len();
        // Always the beginning of a line.
        let mut from = 0;
        // Up to here `number` counts the lines.
        let mut counted = 0;
        let mut number = at.line;
        while let Some(hit) = self.literal.find(&lines[from..]).map(|hit| from + hit) {
            let start = memrchr(b'\n', &lines[from..hit]).map_or(from, |lf| from + lf + 1);
            let end = memchr(b'\n', &lines[hit..]).map_or(lines.len(), |lf| hit + lf);
            let line = without_cr(&lines[start..end]);
            let place = hit - start..hit - start + length;
            if place.end <= line.len()
                && let Ok(line) = str::from_utf8(line)
            {
                number += line_feeds(&lines[counted..start]);
                counted = start;
                if !file.found(number, excerpt(line, place.start, place.end)) {
                    at.offset += start as u64;
                    at.line = number;
                    return false;
                }
            }
            from = lines.len().min(end + 1);
        }
        // Nobody asks where a file that is scanned to its end goes on.
        if !at_end {
            at.offset += lines.len() as u64;
            at.line = number + line_feeds(&lines[counted..]);
        }
        true
    }

    /// Scans the line at `at`, whose beginning is `block`, and moves on behind it. False: no room.
    fn long_line<S: Scanned>(
        &self,
        at: &mut LineStart,
        mut block: Vec<u8>,
        budget: &mut u64,
        file: &mut S,
    ) -> Result<bool, S::Error> {
        let mut seam = Seam::default();
        let mut check = Utf8Check::default();
        let mut hit = None;
        let mut last = None;
        let mut end = at.offset;
        let mut at_end = false;
        let terminated = loop {
            let feed = memchr(b'\n', &block);
            let part = &block[..feed.unwrap_or(block.len())];
            check.push(part);
            hit = hit.or_else(|| seam.find(&self.literal, part, end));
            last = part.last().copied().or(last);
            end += part.len() as u64;
            if feed.is_some() || at_end || block.is_empty() {
                break feed.is_some();
            }
            (block, at_end) = file.read(end, BLOCK_BYTES)?;
        };
        *budget = budget.saturating_sub(end - at.offset);

        let content_end = end - u64::from(last == Some(b'\r'));
        if let Some(hit) = hit
            && check.finish()
            && let Some((line, start)) = self.window(at.offset, hit, content_end, file)?
        {
            let place = excerpt(&line, start, start + self.literal.bytes().len());
            if !file.found(at.line, place) {
                return Ok(false);
            }
        }
        at.offset = end + u64::from(terminated);
        at.line += u64::from(terminated);
        Ok(true)
    }

    /// The part of the line `from..to` that an excerpt around the match at `hit` can show, and
    /// where the match is in it. None when the match is not within the line, or gone.
    fn window<S: Scanned>(
        &self,
        from: u64,
        hit: u64,
        to: u64,
        file: &mut S,
    ) -> Result<Option<(String, usize)>, S::Error> {
        let query = self.literal.bytes();
        let hit_end = hit + query.len() as u64;
        if hit_end > to {
            return Ok(None);
        }
        let first = from.max(hit.saturating_sub(EXCERPT_BYTES as u64));
        let last = to.min(hit_end + EXCERPT_BYTES as u64);
        let (mut bytes, _) = file.read(first, last - first)?;
        // The edges of the window may lie inside characters.
        let cut = bytes
            .iter()
            .take_while(|&&byte| byte & 0xC0 == 0x80)
            .count();
        bytes.drain(..cut);
        if let Err(error) = str::from_utf8(&bytes) {
            bytes.truncate(error.valid_up_to());
        }
        let start = (hit - first) as usize - cut;
        Ok(String::from_utf8(bytes)
            .ok()
            .filter(|line| {
                line.as_bytes()
                    .get(start..)
                    .is_some_and(|rest| rest.starts_with(query))
            })
            .map(|line| (line, start)))
    }
}

/// The end of the bytes before, in which a match may begin.
#[derive(Default)]
struct Seam(Vec<u8>);

impl Seam {
    /// The offset of the first match that ends in `part`, which begins at `offset`.
    fn find(&mut self, literal: &Literal<'_>, part: &[u8], offset: u64) -> Option<u64> {
        let reach = literal.bytes().len() - 1;
        let before = self.0.len();
        self.0.extend(&part[..part.len().min(reach)]);
        let hit = literal
            .find(&self.0)
            .or_else(|| literal.find(part).map(|hit| before + hit));
        if part.len() >= reach {
            self.0.clear();
            self.0.extend(&part[part.len() - reach..]);
        } else {
            let surplus = self.0.len().saturating_sub(reach);
            self.0.drain(..surplus);
        }
        hit.map(|hit| offset + hit as u64 - before as u64)
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests;
