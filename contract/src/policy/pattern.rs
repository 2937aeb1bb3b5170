//! One pattern against whole paths: what it matches, what it hides and where
//! it may still match further down. Knows segments and `**`; a single name is
//! `name`'s business.

use super::braces::expand;
use super::error::{MAX_PATTERN_BYTES, PatternError};
use super::name::Name;
use crate::path;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: String,
    alternatives: Vec<Segments>,
}

/// One alternative; no two [`Segment::Deep`] follow each other.
type Segments = Vec<Segment>;

#[derive(Clone, Debug)]
enum Segment {
    /// `**`: any number of names, but at least one where it comes last.
    Deep,
    /// One name.
    Name(Name),
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        // First, so that nothing below sees more than this.
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong);
        }
        if text.contains('\\') {
            return Err(PatternError::Backslash);
        }
        if text.contains('\0') {
            return Err(PatternError::Nul);
        }
        Ok(Self {
            text: text.to_owned(),
            alternatives: expand(text)?
                .iter()
                .map(|alternative| segments(alternative))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The pattern as the operator wrote it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches `path` itself.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.any(|segments| walk(segments, path, false))
    }

    /// Whether it matches `path` or a directory that `path` is in.
    pub(super) fn hides(&self, path: &str) -> bool {
        self.any(|segments| walk(segments, path, true))
    }

    /// Whether it hides the directory `path`, because it matches it, one that
    /// it is in, or, with `/**`, everything below one of these.
    pub(super) fn hides_directory(&self, path: &str) -> bool {
        self.any(|segments| match &**segments {
            [stem @ .., Segment::Deep] => walk(stem, path, true),
            whole => walk(whole, path, true),
        })
    }

    /// Whether it hides every path there is.
    pub(super) fn hides_everything(&self) -> bool {
        use Segment::{Deep, Name as One};
        self.any(|segments| {
            matches!(
                &**segments,
                [Deep] | [One(Name::Any)] | [Deep, One(Name::Any)]
            )
        })
    }

    /// Whether it can match something strictly below the directory `path`.
    pub(super) fn reaches_below(&self, path: &str) -> bool {
        self.any(|segments| {
            let mut names = path::segments(path);
            for segment in segments {
                let Segment::Name(expected) = segment else {
                    return true;
                };
                match names.next() {
                    Some(name) if expected.matches(name) => {}
                    Some(_) => return false,
                    None => return true,
                }
            }
            false
        })
    }

    /// Whether it can match a path of one name that `served` accepts. Asked
    /// of a name without wildcards only; of the others, some name will do.
    pub(super) fn reaches_top_level(&self, served: impl Fn(&str) -> bool) -> bool {
        self.any(|segments| match &**segments {
            [Segment::Deep] => true,
            [Segment::Name(name)] | [Segment::Deep, Segment::Name(name)] => match name {
                Name::Literal(name) => served(name),
                _ => true,
            },
            _ => false,
        })
    }

    fn any(&self, test: impl Fn(&Segments) -> bool) -> bool {
        self.alternatives.iter().any(test)
    }
}

/// Reads one alternative.
fn segments(text: &str) -> Result<Segments, PatternError> {
    if text.is_empty() {
        return Err(PatternError::Empty);
    }
    if text.starts_with('/') {
        return Err(PatternError::Absolute);
    }
    // Of two characters that end in a colon, only a drive is no path.
    if text
        .get(..2)
        .is_some_and(|start| start.ends_with(':') && !path::is_canonical(start))
    {
        return Err(PatternError::Drive);
    }
    let mut segments = Segments::new();
    let mut parts = text.split('/').peekable();
    while let Some(part) = parts.next() {
        let segment = match part {
            "**" => Segment::Deep,
            "" if parts.peek().is_none() => Segment::Deep,
            "" => return Err(PatternError::EmptySegment),
            "." | ".." => return Err(PatternError::Dots),
            name => Segment::Name(Name::parse(name)?),
        };
        if !matches!(
            (segments.last(), &segment),
            (Some(Segment::Deep), Segment::Deep)
        ) {
            segments.push(segment);
        }
    }
    Ok(segments)
}

/// Whether `segments` match `path` or, with `ancestors`, one of the
/// directories it is in (of which the root is one, for no segments at all).
///
/// Only the last `**` is ever tried again: an earlier one that took more
/// could only leave less for what follows. So the work is at most segments ×
/// names, however many `**` there are.
fn walk(segments: &[Segment], path: &str, ancestors: bool) -> bool {
    let mut at = 0;
    let mut rest = (!path.is_empty()).then_some(path);
    let mut retry: Option<(usize, &str)> = None;
    loop {
        match (segments.get(at), rest) {
            (None, None) => return true,
            (None, Some(_)) if ancestors => return true,
            (None, Some(_)) => {}
            (Some(_), None) => return false,
            (Some(Segment::Deep), Some(_)) if at + 1 == segments.len() => return true,
            (Some(Segment::Deep), Some(here)) => {
                at += 1;
                retry = Some((at, here));
                continue;
            }
            (Some(Segment::Name(expected)), Some(here)) => {
                let (name, below) = first(here);
                if expected.matches(name) {
                    at += 1;
                    rest = below;
                    continue;
                }
            }
        }
        let Some((after, Some(below))) = retry.map(|(after, from)| (after, first(from).1)) else {
            return false;
        };
        at = after;
        rest = Some(below);
        retry = Some((after, below));
    }
}

/// The first name of a path, and what is below it.
fn first(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((name, below)) => (name, Some(below)),
        None => (path, None),
    }
}
