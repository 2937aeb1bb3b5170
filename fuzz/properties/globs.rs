//! The policy a second time, slow and obvious: every spelling that braces
//! stand for is written out, and a match is the set of places where it may end.

use preopen_contract::policy::{
    BLOCKED_EXTENSIONS, BLOCKED_NAMES, MAX_ALTERNATIVES, MAX_PATTERN_BYTES, Verdict, is_reserved,
};

/// One piece of a pattern's text.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// A character that is written as it is, also a wildcard or a slash.
    Plain(char),
    /// What stands between a `[` and its `]`.
    Class(String),
    /// Stands where a brace stood, so that stars on both sides of it are told
    /// from a `**` that was written.
    Seam,
}

/// One name of a pattern, or `**`.
#[derive(Clone, Debug)]
enum Segment {
    Deep,
    Name(Vec<Piece>),
}

/// All that a pattern stands for; none where it is malformed.
fn parse(pattern: &str) -> Option<Vec<Vec<Segment>>> {
    if pattern.len() > MAX_PATTERN_BYTES || pattern.contains(['\\', '\0']) {
        return None;
    }
    let pieces = pieces(pattern)?;
    let whole = brace(&pieces, &mut 0, true)?;
    whole.iter().map(|spelling| segments(spelling)).collect()
}

fn pieces(pattern: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        if character != '[' {
            pieces.push(Piece::Plain(character));
            continue;
        }
        // A `]` that comes first is a member, also behind the `!`.
        let sign = usize::from(rest.starts_with(['!', '^']));
        let member = rest[sign..].chars().next()?.len_utf8();
        let end = sign + member + rest[sign + member..].find(']')?;
        let body = &rest[..end];
        if body.contains('/') || ["[:", "[.", "[="].iter().any(|name| body.contains(name)) {
            return None;
        }
        pieces.push(Piece::Class(body.to_owned()));
        rest = &rest[end + 1..];
    }
    Some(pieces)
}

/// The spellings of one choice after the other up to the closing brace, or up
/// to the end outside of braces.
fn brace(pieces: &[Piece], at: &mut usize, outermost: bool) -> Option<Vec<Vec<Piece>>> {
    let (mut finished, mut open) = (Vec::new(), vec![Vec::new()]);
    let mut choices = 1;
    loop {
        let piece = pieces.get(*at);
        *at += 1;
        match piece {
            None if outermost => return Some(open),
            Some(Piece::Plain('}')) if !outermost => {
                let is_nothing =
                    |spelling: &Vec<Piece>| spelling.iter().all(|piece| *piece == Piece::Seam);
                if choices == 1 && open.iter().all(is_nothing) {
                    return None;
                }
                finished.append(&mut open);
                return (finished.len() <= MAX_ALTERNATIVES).then_some(finished);
            }
            None | Some(Piece::Plain('}')) => return None,
            Some(Piece::Plain(',')) if !outermost => {
                finished.append(&mut open);
                open.push(Vec::new());
                choices += 1;
            }
            Some(Piece::Plain('{')) => {
                let inner = brace(pieces, at, false)?;
                if open.len() * inner.len() > MAX_ALTERNATIVES {
                    return None;
                }
                let seam = [Piece::Seam];
                let join = |start: &Vec<Piece>, end: &Vec<Piece>| {
                    [start.as_slice(), &seam, end, &seam].concat()
                };
                open = open
                    .iter()
                    .flat_map(|start| inner.iter().map(move |end| join(start, end)))
                    .collect();
            }
            Some(piece) => {
                for spelling in &mut open {
                    spelling.push(piece.clone());
                }
            }
        }
    }
}

/// The segments of a spelling, or none if it is malformed.
fn segments(spelling: &[Piece]) -> Option<Vec<Segment>> {
    let star = Piece::Plain('*');
    let stars = [star.clone(), star];
    let parts: Vec<&[Piece]> = spelling
        .split(|piece| *piece == Piece::Plain('/'))
        .collect();
    let last = parts.len() - 1;
    let mut segments = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let name: Vec<Piece> = part
            .iter()
            .filter(|p| **p != Piece::Seam)
            .cloned()
            .collect();
        let plain: Option<String> = name
            .iter()
            .map(|piece| match piece {
                Piece::Plain(character) => Some(*character),
                _ => None,
            })
            .collect();
        let is_drive = at == 0
            && plain_start(&name)
                .is_some_and(|(letter, colon)| letter.is_ascii_alphabetic() && colon == ':');
        let was_written = part.windows(2).any(|pair| pair == stars);
        let backwards = name.iter().any(|piece| match piece {
            Piece::Class(body) => ranges(body).1.iter().any(|(first, last)| first > last),
            _ => false,
        });
        segments.push(match plain.as_deref() {
            Some("**") if was_written => Segment::Deep,
            Some("") if at == last && at > 0 => Segment::Deep,
            Some("" | "." | "..") => return None,
            _ if is_drive || backwards || name.windows(2).any(|pair| pair == stars) => return None,
            _ => Segment::Name(name),
        });
    }
    Some(segments)
}

fn plain_start(name: &[Piece]) -> Option<(char, char)> {
    match name {
        [Piece::Plain(first), Piece::Plain(second), ..] => Some((*first, *second)),
        _ => None,
    }
}

/// Whether a class takes what is not in it, and its ranges.
fn ranges(body: &str) -> (bool, Vec<(char, char)>) {
    let members = body.strip_prefix(['!', '^']);
    let mut rest: Vec<char> = members.unwrap_or(body).chars().collect();
    let mut ranges = Vec::new();
    while !rest.is_empty() {
        let (range, taken) = match *rest {
            [first, '-', last, ..] => ((first, last), 3),
            _ => ((rest[0], rest[0]), 1),
        };
        ranges.push(range);
        rest.drain(..taken);
    }
    (members.is_some(), ranges)
}

/// Whether one name matches the whole of `pattern`.
fn name_matches(pattern: &[Piece], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // Where the match of what was looked at so far may end.
    let mut ends = vec![false; name.len() + 1];
    ends[0] = true;
    for piece in pattern {
        let accepts = |character: char| match piece {
            Piece::Plain('?') => true,
            Piece::Plain(literal) => *literal == character,
            Piece::Class(body) => {
                let (negated, ranges) = ranges(body);
                negated
                    != ranges
                        .iter()
                        .any(|(a, z)| *a <= character && character <= *z)
            }
            Piece::Seam => false,
        };
        ends = (0..ends.len())
            .map(|end| match piece {
                Piece::Plain('*') => ends[..=end].contains(&true),
                _ => end > 0 && ends[end - 1] && accepts(name[end - 1]),
            })
            .collect();
    }
    ends[name.len()]
}

/// For each number of names from the front of `path`, whether they match
/// `pattern`; `**` stands for none, too.
fn matches(pattern: &[Segment], path: &[&str]) -> Vec<bool> {
    let mut ends = vec![false; path.len() + 1];
    ends[0] = true;
    for segment in pattern {
        ends = (0..ends.len())
            .map(|end| match segment {
                Segment::Deep => ends[..=end].contains(&true),
                Segment::Name(name) => {
                    end > 0 && ends[end - 1] && name_matches(name, path[end - 1])
                }
            })
            .collect();
    }
    ends
}

/// The same, where a `**` at the end stands for at least one name.
fn whole_matches(pattern: &[Segment], path: &[&str]) -> Vec<bool> {
    match pattern {
        [stem @ .., Segment::Deep] => {
            let starts = matches(stem, path);
            (0..starts.len())
                .map(|end| starts[..end].contains(&true))
                .collect()
        }
        _ => matches(pattern, path),
    }
}

/// Whether some path strictly below `path` matches.
fn matches_below(pattern: &[Segment], path: &[&str]) -> bool {
    (0..=pattern.len()).any(|taken| {
        let goes_on = taken < pattern.len() || matches!(pattern.last(), Some(Segment::Deep));
        goes_on && matches(&pattern[..taken], path)[path.len()]
    })
}

/// Whether the pattern hides every path there is.
fn is_everything(pattern: &[Segment]) -> bool {
    let is_star = |segment: &Segment| match segment {
        Segment::Deep => true,
        Segment::Name(name) => *name == [Piece::Plain('*')],
    };
    let names = pattern
        .iter()
        .filter(|s| matches!(s, Segment::Name(_)))
        .count();
    let ends_deep = matches!(pattern.last(), Some(Segment::Deep));
    pattern.iter().all(is_star) && (names == 0 || names == 1 && !ends_deep)
}

/// Both lists, and whether what workspaces do not serve is hidden, too.
pub(crate) struct Model {
    include: Vec<Vec<Vec<Segment>>>,
    exclude: Vec<Vec<Vec<Segment>>>,
    blocks: bool,
}

/// What decided a verdict: a pattern by its place in its list.
#[derive(Debug, PartialEq)]
pub(crate) enum Decided {
    Reserved,
    /// The name or extension, in lower case.
    Blocked(String),
    Exclude(usize),
    Include(usize),
    Nothing,
}

fn blocked_name(path: &[&str]) -> Option<String> {
    let mut names = path.iter().map(|name| name.to_ascii_lowercase());
    names.find(|name| BLOCKED_NAMES.contains(&name.as_str()))
}

impl Model {
    pub(crate) fn new(include: &[String], exclude: &[String], blocks: bool) -> Option<Self> {
        let all = |list: &[String]| -> Option<Vec<_>> {
            list.iter().map(|pattern| parse(pattern)).collect()
        };
        let (include, exclude) = (all(include)?, all(exclude)?);
        let model = Self {
            include,
            exclude,
            blocks,
        };
        (!model.include.is_empty()).then_some(model)
    }

    /// The verdict for a file, and what decided it.
    pub(crate) fn file(&self, path: &[&str]) -> (Verdict, Decided) {
        let hides = |pattern: &Vec<Segment>| whole_matches(pattern, path)[1..].contains(&true);
        let serves = |pattern: &Vec<Segment>| whole_matches(pattern, path)[path.len()];
        let last = path.last().map(|name| name.to_ascii_lowercase());
        let extension = last
            .as_deref()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, end)| end);
        let extension = extension.filter(|end| BLOCKED_EXTENSIONS.contains(end));
        let blocked = blocked_name(path)
            .or(extension.map(str::to_owned))
            .filter(|_| self.blocks);
        if path.iter().any(|name| is_reserved(name)) {
            (Verdict::Excluded, Decided::Reserved)
        } else if let Some(name) = blocked {
            (Verdict::Excluded, Decided::Blocked(name))
        } else if let Some(at) = self.exclude.iter().position(|all| all.iter().any(hides)) {
            (Verdict::Excluded, Decided::Exclude(at))
        } else if let Some(at) = self.include.iter().position(|all| all.iter().any(serves)) {
            (Verdict::Served, Decided::Include(at))
        } else {
            (Verdict::NotIncluded, Decided::Nothing)
        }
    }

    /// The verdict for a directory; no names are the root.
    pub(crate) fn directory(&self, path: &[&str]) -> Verdict {
        // With `/**` at its end a pattern hides the directory itself, too.
        let hides = |pattern: &Vec<Segment>| {
            let stem = match pattern.as_slice() {
                [stem @ .., Segment::Deep] => stem,
                whole => whole,
            };
            matches(stem, path).contains(&true) || path.is_empty() && is_everything(pattern)
        };
        let is_blocked = self.blocks && blocked_name(path).is_some();
        let is_hidden = is_blocked || path.iter().any(|name| is_reserved(name));
        if is_hidden || self.exclude.iter().flatten().any(hides) {
            Verdict::Excluded
        } else if self
            .include
            .iter()
            .flatten()
            .any(|pattern| matches_below(pattern, path))
        {
            Verdict::Served
        } else {
            Verdict::NotIncluded
        }
    }
}
