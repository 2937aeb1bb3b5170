//! The lines that match in one file, each with the lines around it: every line
//! is shown once, and no line around a match matches itself.

use std::ops::Range;

use crate::hits::{Hit, Hits};
use crate::lines::{Lines, Shown, Source};

/// What is shown of a line; none where it is not UTF-8.
pub(crate) type Line = Option<Shown>;

/// A match and what is shown around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The number of the line that matches, from 1.
    pub(crate) number: u64,
    pub(crate) line: Shown,
    /// The lines directly before it, as far as nothing before shows them.
    pub(crate) before: Vec<Line>,
    /// The lines directly after it, up to the next match.
    pub(crate) after: Vec<Line>,
}

impl Excerpt {
    /// The number of its first line.
    pub(crate) fn first(&self) -> u64 {
        self.number - self.before.len() as u64
    }

    /// The number of the line behind its last one.
    pub(crate) fn end(&self) -> u64 {
        self.number + self.after.len() as u64 + 1
    }
}

/// The first `most` of `hits` with `context` lines around each; fewer where their texts have more
/// than `room` bytes. None among them: the file has changed since it was scanned.
pub(crate) fn excerpts<S: Source>(
    file: &mut Lines<S>,
    hits: &Hits,
    most: usize,
    context: usize,
    room: usize,
) -> Result<Vec<Excerpt>, S::Error> {
    let mut found = Vec::new();
    let mut taken = 0;
    // No line that begins before this is shown again.
    let mut floor = 0;
    for (index, hit) in hits.first.iter().take(most).enumerate() {
        if taken > room {
            break;
        }
        let Some(line) = file.around(&hit.line, hit.part.clone())? else {
            break;
        };
        let next = hits.first.get(index + 1);
        let before = before(file, hit, context, floor)?;
        let (after, end) = after(file, hit, context, next)?;
        floor = end;
        let around = before.iter().chain(&after).flatten();
        taken += line.text.len() + around.map(|line| line.text.len()).sum::<usize>();
        found.push(Excerpt {
            number: hit.number,
            line,
            before,
            after,
        });
    }
    Ok(found)
}

fn before<S: Source>(
    file: &mut Lines<S>,
    hit: &Hit,
    context: usize,
    floor: u64,
) -> Result<Vec<Line>, S::Error> {
    let mut lines = Vec::new();
    let mut start = hit.line.start;
    while lines.len() < context
        && let Some(line) = file.before(start, floor)?
    {
        lines.push(file.beginning(&line)?);
        start = line.start;
    }
    lines.reverse();
    Ok(lines)
}

/// The lines, and the offset behind them.
fn after<S: Source>(
    file: &mut Lines<S>,
    hit: &Hit,
    context: usize,
    next: Option<&Hit>,
) -> Result<(Vec<Line>, u64), S::Error> {
    let mut lines = Vec::new();
    let mut start = hit.line.end + 1;
    while lines.len() < context
        && next.is_none_or(|next| start < next.line.start)
        && let Some(line) = file.after(start)?
    {
        let Range { end, .. } = line;
        lines.push(file.beginning(&line)?);
        start = end + 1;
    }
    Ok((lines, start))
}
