//! One page of a traversal: which items must stand on it, whether another one
//! follows, and what a cursor is good for after the root has changed.

use serde_json::Value;

use super::contested;
use super::expected::Expected;
use super::model::{Model, OWN};
use super::texts;
use super::traversal::{State, Traversal};
use crate::harness::{Answer, sha256};

/// From this length of an answer on, in bytes, a page may have fewer items than were asked for:
/// the default of --max-result-bytes is 48,000, and no item here costs half of what is between.
const FULL: usize = 32_000;

/// A cursor that was answered, and where it leads.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) traversal: Traversal,
    pub(super) cursor: String,
    /// The number of the first item behind it.
    position: usize,
    state: State,
}

/// A page that must come.
#[derive(Debug)]
pub(super) struct Page {
    traversal: Traversal,
    /// The number of the first item.
    position: usize,
    /// What is left from there on.
    items: Vec<Value>,
    /// The page behind the last item is refused.
    broken: bool,
    limit: usize,
    state: State,
    mixed: bool,
    /// The cursor may be refused, as somebody else changes what it stands on.
    may_be_stale: bool,
}

/// What a call must answer that asks for at most `limit` items behind `cursor`.
pub(super) fn expect(
    model: &Model,
    traversal: &Traversal,
    limit: usize,
    cursor: Option<&Saved>,
) -> Expected {
    let sequence = match traversal.sequence(model) {
        Ok(sequence) => sequence,
        Err(refusal) => return Expected::Refused(refusal.to_owned()),
    };
    if cursor.is_some_and(|cursor| cursor.state != sequence.state) {
        return Expected::Refused(texts::CHANGED.to_owned());
    }
    let limit = limit.min(traversal.most());
    let position = cursor.map_or(0, |cursor| cursor.position);
    if let Some(refusal) = &sequence.broken
        && sequence.items.len() < position + limit
    {
        return Expected::RefusedAs(refusal.clone());
    }
    Expected::Page(Page {
        traversal: traversal.clone(),
        position,
        items: sequence.items[position..].to_vec(),
        broken: sequence.broken.is_some(),
        limit,
        state: sequence.state,
        mixed: sequence.mixed,
        may_be_stale: cursor.is_some() && sequence.shared,
    })
}

impl Page {
    /// Whether a refusal may be right too.
    pub(super) const fn may_be_stale(&self) -> bool {
        self.may_be_stale
    }

    /// Judges an answer; it may hold a cursor for later.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn judge(&self, answer: &Answer) -> Result<Option<Saved>, String> {
        if self.may_be_stale && answer.0.json["result"]["isError"] == true {
            return match answer.refusal() {
                texts::CHANGED => Ok(None),
                _ => Err("refused".to_owned()),
            };
        }
        let items = answer.items();
        let hashed: String = items
            .iter()
            .map(|item| self.traversal.hashed(item))
            .collect();
        if answer.hash() != sha256(hashed) {
            return Err("another content_hash".to_owned());
        }
        if self.mixed {
            return self.judge_mixed(answer).map(|()| None);
        }
        let expected = self.items.get(..items.len());
        if expected != Some(items) {
            return Err(format!("other items than {:?}", self.items));
        }
        let more = items.len() < self.items.len() || self.broken;
        let full = items.len() == self.limit || answer.0.line.len() > FULL;
        if items.len() > self.limit || (more && !full) {
            return Err(format!("not the items that were asked for, {}", self.limit));
        }
        let cursor = answer.next_cursor();
        if cursor.is_some() != more {
            return Err("a page behind the last one, or none before it".to_owned());
        }
        // Whether there is one must not depend on what somebody else has changed by now.
        let cursor = cursor.filter(|_| !self.may_be_stale);
        Ok(cursor.map(|cursor| Saved {
            traversal: self.traversal.clone(),
            cursor: cursor.to_owned(),
            position: self.position + items.len(),
            state: self.state.clone(),
        }))
    }

    /// Judges an answer in which items of somebody else stand too; all fits one page.
    fn judge_mixed(&self, answer: &Answer) -> Result<(), String> {
        if answer.next_cursor().is_some() {
            return Err("more than one page".to_owned());
        }
        let paths = answer.paths();
        if !paths.is_sorted_by(|one, other| one < other) {
            return Err("not in order".to_owned());
        }
        let own: Vec<&Value> = answer
            .items()
            .iter()
            .zip(&paths)
            .filter(|(_, path)| path.starts_with(OWN))
            .map(|(item, _)| item)
            .collect();
        if own != self.items.iter().collect::<Vec<_>>() {
            return Err(format!("other items than {:?}", self.items));
        }
        let mut others = paths.iter().filter(|path| !path.starts_with(OWN));
        match others.find(|path| !contested::is_path(path)) {
            Some(path) => Err(format!("what is {path}?")),
            None => Ok(()),
        }
    }
}
