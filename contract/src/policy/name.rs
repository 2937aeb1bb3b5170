//! One segment of a pattern against one name. Works in characters, not bytes,
//! so `?` and classes mean the same for every script. Knows no slashes.

use std::str::Chars;

use super::error::PatternError;

/// What a segment other than `**` matches, in the cheapest form it has.
#[derive(Clone, Debug)]
pub(super) enum Name {
    /// `*`
    Any,
    /// No wildcard at all.
    Literal(Box<str>),
    /// One `*` and literal text around it, such as `*.ts`.
    Around { start: Box<str>, end: Box<str> },
    /// Anything else.
    Tokens(Box<[Token]>),
}

/// One step of a segment.
#[derive(Clone, Debug)]
pub(super) enum Token {
    /// This character.
    Literal(char),
    /// `?`
    One,
    /// `*`
    Run,
    /// `[…]`: the ranges, both ends included.
    Class {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
}

impl Name {
    /// Reads a segment that braces and slashes were already taken out of.
    ///
    /// # Errors
    /// For a malformed class and for stars side by side.
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let tokens = tokens(text)?;
        let mut runs = tokens
            .iter()
            .enumerate()
            .filter_map(|(at, token)| matches!(token, Token::Run).then_some(at));
        let first = runs.next();
        let parts = match (first, runs.next()) {
            (None, _) => literal(&tokens).map(Self::Literal),
            (Some(at), None) => {
                let (start, rest) = tokens.split_at(at);
                let end = rest.get(1..).unwrap_or_default();
                literal(start)
                    .zip(literal(end))
                    .map(|(start, end)| Self::Around { start, end })
            }
            _ => None,
        };
        Ok(match parts {
            Some(Self::Around { start, end }) if start.is_empty() && end.is_empty() => Self::Any,
            Some(name) => name,
            None => Self::Tokens(tokens.into()),
        })
    }

    /// Whether the whole of `name` matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => **literal == *name,
            Self::Around { start, end } => name
                .strip_prefix(&**start)
                .is_some_and(|rest| rest.ends_with(&**end)),
            Self::Tokens(tokens) => tokens_match(tokens, name),
        }
    }
}

impl Token {
    fn accepts(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::One | Self::Run => true,
            Self::Class { negated, ranges } => {
                *negated
                    != ranges
                        .iter()
                        .any(|(first, last)| (*first..=*last).contains(&character))
            }
        }
    }
}

/// The text that `tokens` spell when there is no wildcard in them.
fn literal(tokens: &[Token]) -> Option<Box<str>> {
    let text: Option<String> = tokens
        .iter()
        .map(|token| match token {
            Token::Literal(character) => Some(*character),
            _ => None,
        })
        .collect();
    text.map(String::into_boxed_str)
}

/// Only the last `*` is ever tried again: an earlier one that took more could
/// only leave less for what follows. So the work is at most tokens × name.
fn tokens_match(tokens: &[Token], name: &str) -> bool {
    let mut at = 0;
    let mut rest = name.chars();
    let mut retry: Option<(usize, Chars<'_>)> = None;
    loop {
        match tokens.get(at) {
            Some(Token::Run) => {
                at += 1;
                retry = Some((at, rest.clone()));
                continue;
            }
            Some(token) => match rest.next() {
                Some(character) if token.accepts(character) => {
                    at += 1;
                    continue;
                }
                Some(_) => {}
                None => return false,
            },
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = &mut retry else {
            return false;
        };
        from.next();
        at = *after;
        rest = from.clone();
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, PatternError> {
    let mut tokens = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '*' if matches!(tokens.last(), Some(Token::Run)) => return Err(PatternError::Stars),
            '*' => Token::Run,
            '?' => Token::One,
            '[' => {
                let (body, rest) = class_body(characters.as_str())?;
                characters = rest.chars();
                class(body)?
            }
            other => Token::Literal(other),
        });
    }
    Ok(tokens)
}

/// What stands between a `[` and its `]`, and what comes after that, given the
/// text after the `[`. A `]` that comes first, or right after the `!`, is a
/// member. A slash does not end it here: the pattern is cut at slashes later,
/// which leaves a class over two segments open in the first one.
///
/// # Errors
/// When the class does not end.
pub(super) fn class_body(text: &str) -> Result<(&str, &str), PatternError> {
    let first = usize::from(text.starts_with(['!', '^']));
    text.char_indices()
        .skip(first)
        .find(|(at, character)| *at > first && *character == ']')
        .map(|(end, _)| text.split_at(end))
        .and_then(|(body, rest)| Some((body, rest.strip_prefix(']')?)))
        .ok_or(PatternError::OpenClass)
}

fn class(body: &str) -> Result<Token, PatternError> {
    // Read as plain members these would silently hide the wrong names.
    if body.contains("[:") || body.contains("[.") || body.contains("[=") {
        return Err(PatternError::NamedClass);
    }
    let members = body.strip_prefix(['!', '^']);
    let negated = members.is_some();
    let mut members = members.unwrap_or(body).chars();
    let mut ranges = Vec::new();
    while let Some(first) = members.next() {
        let mut ahead = members.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) => {
                members = ahead;
                last
            }
            _ => first,
        };
        if first > last {
            return Err(PatternError::BackwardRange);
        }
        ranges.push((first, last));
    }
    Ok(match *ranges {
        // `[x]` is how x is taken literally; it need not cost more than x.
        [(first, last)] if first == last && !negated => Token::Literal(first),
        _ => Token::Class {
            negated,
            ranges: ranges.into(),
        },
    })
}
