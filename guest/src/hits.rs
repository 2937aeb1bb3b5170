//! Finds the lines of one file that hold a needle: counts all of them, keeps
//! where the first ones are. The file is read once, a block at a time, whatever
//! the length of its lines; memory does not grow with either.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use simdutf8::compat::from_utf8;

use crate::lines::{Lines, Source};
use crate::needle::Needle;
use crate::scan::BLOCK_BYTES;
use crate::text::Utf8Check;

/// What is read first of a file, in bytes: enough for most, and to know a binary one by.
const FIRST_BYTES: u64 = 32 << 10;
/// A NUL among so many bytes at the beginning makes a file a binary one.
const BINARY_BYTES: usize = 8 << 10;

/// A line that matches. Offsets are in the file, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The number of the line, from 1.
    pub(crate) number: u64,
    /// The line without its LF.
    pub(crate) line: Range<u64>,
    /// The first match in it.
    pub(crate) part: Range<u64>,
}

/// What is known of a file that was scanned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    /// The first lines that match, as many as were asked for.
    pub(crate) first: Vec<Hit>,
    /// How many lines match.
    pub(crate) total: u64,
    /// How many lines are not UTF-8 and were passed over.
    pub(crate) not_utf8: u64,
    /// Whether the budget ended the scan before the end of the file.
    pub(crate) cut: bool,
}

/// Scans `file` for `needle` and keeps the first `keep` hits. None: the file is a binary one, which
/// costs nothing of `budget`, the bytes that may still be scanned.
pub(crate) fn scan<S: Source>(
    needle: &mut Needle<'_>,
    keep: usize,
    file: &mut Lines<S>,
    budget: &mut u64,
) -> Result<Option<Hits>, S::Error> {
    let mut scan = Scan {
        needle,
        keep,
        number: 1,
        hits: Hits::default(),
    };
    let mut pending = Pending::at(0);
    let mut offset = 0;
    loop {
        let wanted = match offset {
            0 => FIRST_BYTES,
            _ => BLOCK_BYTES,
        };
        // With a budget that is used up, one byte tells whether more follows.
        let block = file.block(offset, wanted.min((*budget).max(1)))?;
        if block.is_empty() {
            break;
        }
        if *budget == 0 {
            scan.hits.cut = true;
            // A line of which only the beginning was seen is not judged.
            return Ok(Some(scan.hits));
        }
        if offset == 0 && memchr(0, &block[..block.len().min(BINARY_BYTES)]).is_some() {
            return Ok(None);
        }
        *budget -= (block.len() as u64).min(*budget);
        scan.block(block, offset, &mut pending);
        offset += block.len() as u64;
    }
    if pending.end > pending.start {
        scan.finish(pending);
    }
    Ok(Some(scan.hits))
}

struct Scan<'a, 't> {
    needle: &'a mut Needle<'t>,
    keep: usize,
    /// The number of the line that comes next.
    number: u64,
    hits: Hits,
}

impl Scan<'_, '_> {
    /// Scans the bytes at `offset`; `pending` is the line that they go on with.
    fn block(&mut self, block: &[u8], offset: u64, pending: &mut Pending) {
        let head = match memchr(b'\n', block) {
            None => return pending.push(self.needle, block),
            Some(_) if pending.end == pending.start => 0,
            Some(feed) => {
                pending.push(self.needle, &block[..feed]);
                let next = Pending::at(offset + feed as u64 + 1);
                self.finish(std::mem::replace(pending, next));
                feed + 1
            }
        };
        let tail = memrchr(b'\n', block).map_or(head, |feed| feed + 1);
        self.lines(&block[head..tail], offset + head as u64);
        *pending = Pending::at(offset + tail as u64);
        pending.push(self.needle, &block[tail..]);
    }

    /// Scans whole lines, the first of them at `offset`.
    fn lines(&mut self, mut lines: &[u8], mut offset: u64) {
        while let Err(error) = from_utf8(lines) {
            let bad = error.valid_up_to();
            let start = memrchr(b'\n', &lines[..bad]).map_or(0, |feed| feed + 1);
            let end = memchr(b'\n', &lines[bad..]).map_or(lines.len(), |feed| bad + feed + 1);
            self.text(&lines[..start], offset);
            self.hits.not_utf8 += 1;
            self.number += 1;
            lines = &lines[end..];
            offset += end as u64;
        }
        self.text(lines, offset);
    }

    /// Scans whole lines that are UTF-8.
    fn text(&mut self, lines: &[u8], offset: u64) {
        // Always the beginning of a line.
        let mut from = 0;
        // Up to here `number` counts the lines.
        let mut counted = 0;
        while let Some(hit) = self.needle.find(&lines[from..]) {
            let part = from + hit.start..from + hit.end;
            let start =
                memrchr(b'\n', &lines[from..part.start]).map_or(from, |feed| from + feed + 1);
            let end = memchr(b'\n', &lines[part.end..]).map_or(lines.len(), |feed| part.end + feed);
            // The CR that is dropped at the end of a line is not part of it.
            if !(part.end == end && lines[..end].ends_with(b"\r")) {
                self.number += line_feeds(&lines[counted..start]);
                counted = start;
                let line = start..end;
                self.found(shifted(line, offset), shifted(part, offset));
            }
            from = lines.len().min(end + 1);
        }
        self.number += line_feeds(&lines[counted..]);
    }

    /// Judges a line that was seen in pieces.
    fn finish(&mut self, line: Pending) {
        let Pending { start, end, .. } = line;
        if !line.check.finish() {
            self.hits.not_utf8 += 1;
        } else if let Some(part) = line.part
            && part.end <= end - u64::from(line.last == Some(b'\r'))
        {
            self.found(start..end, part);
        }
        self.number += 1;
    }

    fn found(&mut self, line: Range<u64>, part: Range<u64>) {
        self.hits.total += 1;
        if self.hits.first.len() < self.keep {
            self.hits.first.push(Hit {
                number: self.number,
                line,
                part,
            });
        }
    }
}

/// A line whose end has not been seen.
struct Pending {
    start: u64,
    /// The end of what was seen of it.
    end: u64,
    check: Utf8Check,
    /// The end of what was seen, in which a match may begin.
    seam: Vec<u8>,
    /// The first match.
    part: Option<Range<u64>>,
    last: Option<u8>,
}

impl Pending {
    fn at(start: u64) -> Self {
        Self {
            start,
            end: start,
            check: Utf8Check::default(),
            seam: Vec::new(),
            part: None,
            last: None,
        }
    }

    /// Goes on with `piece`, which holds no LF.
    fn push(&mut self, needle: &mut Needle<'_>, piece: &[u8]) {
        self.check.push(piece);
        if self.part.is_none() {
            let reach = needle.longest().saturating_sub(1);
            let begins = self.end - self.seam.len() as u64;
            self.seam.extend(&piece[..piece.len().min(reach)]);
            let across = match self.seam.is_empty() {
                true => None,
                false => needle.find(&self.seam).map(|hit| shifted(hit, begins)),
            };
            self.part = across.or_else(|| needle.find(piece).map(|hit| shifted(hit, self.end)));
            if piece.len() > reach {
                self.seam.clear();
                self.seam.extend(&piece[piece.len() - reach..]);
            } else {
                let surplus = self.seam.len().saturating_sub(reach);
                self.seam.drain(..surplus);
            }
        }
        self.last = piece.last().copied().or(self.last);
        self.end += piece.len() as u64;
    }
}

fn shifted(range: Range<usize>, by: u64) -> Range<u64> {
    by + range.start as u64..by + range.end as u64
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests;
