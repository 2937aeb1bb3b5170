//! Which answers are right when a call met a fault, and what may be on disk
//! then. The texts are spelled out: they are what a user reads.

use rustix::io::Errno;
use serde_json::Value;

use super::cases::{Case, Does};
use super::world::{Answer, Picture};
use crate::confine::faults::{Fault, Kind};
use crate::confine::temporaries::is_temporary;

const EXHAUSTED: &str = "the server has too much open; try again later";
const UNREADABLE: &str = "the path could not be read; try again";
const UNREADABLE_BELOW: &str =
    "something below the path could not be read; try again, or start further down";
const NOT_READABLE: &str = "the operating system does not allow this server to open the path";
const CHANGED: &str =
    "the filesystem changed since this cursor was issued; start the traversal again";
const MISSING: &str = "path does not exist in this root";
const NO_SPACE: &str = "the disk is full or its quota used up; nothing was changed";
const UNWRITTEN: &str = "the file could not be written; nothing was changed";
const UNMADE: &str = "a directory could not be made; nothing was changed";
const UNCONFIRMED: &str = "the file was written, but the disk did not confirm it; write it again";
const NOT_WRITABLE: &str = "the operating system does not allow this server to write the path";
const READ_ONLY: &str = "this root is read-only";
const NOT_REGULAR: &str = "path exists and is not a regular file; choose another name";
const HASH_OF_NOTHING: &str = "path does not exist, so it cannot have if_hash; nothing was changed";
const HASH_MISMATCH: &str =
    "the present content does not have if_hash; read the file again, nothing was changed";
const UNREMOVED: &str = "it could not be removed; nothing was removed, try again";
const NOT_REMOVABLE: &str =
    "the operating system does not allow this server to remove it; nothing was removed";
const NOT_EMPTY: &str =
    "the directory is not empty; nothing was removed (force removes it with all it holds)";
const HOLDS_HIDDEN: &str = "the rules of this root hide something in the directory, or a name in it cannot be spelled; nothing was removed";

/// What a tool may refuse with when a call of it failed this way.
fn refusals(does: Does, errno: Errno) -> &'static [&'static str] {
    match (does, errno) {
        (Does::Read, Errno::MFILE | Errno::NFILE | Errno::NOMEM) => &[EXHAUSTED],
        // What may be passed over is not there for a cursor either.
        (Does::Read, Errno::ACCESS | Errno::PERM) => &[NOT_READABLE, CHANGED],
        (Does::Read, Errno::LOOP) => &[MISSING, CHANGED],
        (Does::Read, _) => &[UNREADABLE, UNREADABLE_BELOW],
        (Does::Write, Errno::MFILE | Errno::NFILE | Errno::NOMEM) => &[EXHAUSTED, UNCONFIRMED],
        (Does::Write, Errno::ACCESS | Errno::PERM) => &[NOT_WRITABLE, UNCONFIRMED],
        (Does::Write, Errno::ROFS) => &[READ_ONLY, UNCONFIRMED],
        (Does::Write, Errno::NOSPC | Errno::DQUOT) => &[NO_SPACE, UNCONFIRMED],
        (Does::Write, Errno::LOOP) => &[
            NOT_REGULAR,
            UNWRITTEN,
            UNMADE,
            HASH_OF_NOTHING,
            HASH_MISMATCH,
            UNCONFIRMED,
        ],
        (Does::Write, _) => &[UNWRITTEN, UNMADE, UNCONFIRMED],
        (Does::Remove, Errno::MFILE | Errno::NFILE | Errno::NOMEM) => &[EXHAUSTED],
        // To compare takes the turn to write, and reads.
        (Does::Remove, Errno::ACCESS | Errno::PERM) => &[NOT_REMOVABLE, NOT_WRITABLE],
        (Does::Remove, Errno::ROFS) => &[READ_ONLY],
        (Does::Remove, Errno::NOSPC | Errno::DQUOT) => &[UNREMOVED, NO_SPACE],
        (Does::Remove, Errno::LOOP) => &[MISSING, UNWRITTEN, UNREMOVED, HASH_MISMATCH],
        (Does::Remove, _) => &[UNREMOVED, UNWRITTEN],
    }
}

/// What happened to a call.
pub(super) struct Met<'a> {
    pub(super) case: &'a Case,
    pub(super) fault: &'a Fault,
    pub(super) errno: Errno,
    /// The answer without the fault, and what was on disk before and after.
    pub(super) right: &'a Answer,
    pub(super) before: &'a Picture,
    pub(super) after: &'a Picture,
}

impl Met<'_> {
    /// Fails unless `answer` is right and `now` is on disk what it says.
    pub(super) fn judge(&self, answer: &Answer, now: &Picture) {
        let (name, fault) = (self.case.name, self.fault);
        let what = || format!("{} ({name}), {fault:?}: {answer:?}", self.case.tool);
        match answer {
            _ if answer == self.right => {
                assert_eq!(&self.kept(now, self.after), self.after, "{}", what());
            }
            // A directory that was made for the first try was there for the next.
            Answer::Given(_) if self.case.does == Does::Write => {
                assert_eq!(&self.kept(now, self.after), self.after, "{}", what());
            }
            Answer::Given(result) => {
                assert!(self.is_less(result), "{}", what());
                assert_eq!(now, self.before, "{}", what());
            }
            Answer::Refused(text) => self.judge_refusal(text, now, &what()),
        }
        // A signal that comes once is nobody's business; of content that was not read, not written
        // or not on disk something is said, unless nobody may read it.
        let is_interruption = self.errno == Errno::INTR && !fault.lasting;
        let may = self.case.does == Does::Read && self.is_of_rights();
        let is_of_content = matches!(fault.kind, Kind::Read | Kind::Write | Kind::Sync);
        assert!(!is_interruption || answer == self.right, "{}", what());
        let is_silent = is_of_content && answer == self.right;
        assert!(is_interruption || may || !is_silent, "{}", what());
    }

    fn judge_refusal(&self, text: &str, now: &Picture, what: &str) {
        let part = text
            .strip_prefix("not all of it is removed: ")
            .and_then(|rest| rest.strip_suffix("; call again to go on"));
        if let Some(part) = part {
            let count = part.split(' ').next().and_then(|count| count.parse().ok());
            let mut gone = self.before.clone();
            gone.retain(|path, _| !now.contains_key(path));
            assert_eq!(Some(gone.len()), count, "{what}");
            let stayed = now
                .iter()
                .all(|(path, what)| self.before.get(path) == Some(what));
            assert!(stayed && self.case.does == Does::Remove, "{what}");
            return;
        }
        let expected = refusals(self.case.does, self.errno).contains(&text);
        // What was left is not known to be that where it cannot be looked at.
        let not_known = self.case.name.starts_with("what was left")
            && [NOT_EMPTY, HOLDS_HIDDEN, UNREMOVED].contains(&text);
        // A directory in which nothing may be seen holds nothing for a tool of files.
        let is_empty =
            self.case.name == "a directory as a file" && self.is_of_rights() && text == MISSING;
        // Both places for the temporary were in vain, each for its own reason.
        let in_vain =
            self.case.does == Does::Write && !self.case.anyway.is_empty() && text == UNWRITTEN;
        assert!(expected || not_known || is_empty || in_vain, "{what}");
        match text {
            UNCONFIRMED => assert_eq!(&self.kept(now, self.after), self.after, "{what}"),
            _ => assert_eq!(&self.kept(now, self.before), self.before, "{what}"),
        }
    }

    /// What counts of `now` beside what is `expected`: where nothing can be removed any more, temporaries
    /// and directories that were made for something stay.
    fn kept(&self, now: &Picture, expected: &Picture) -> Picture {
        let Fault { kind, lasting, .. } = *self.fault;
        let mut now = now.clone();
        if self.case.name.starts_with("what was left") {
            // Nobody has ever seen it.
            for (path, what) in expected.iter().filter(|(path, _)| is_temporary(path)) {
                now.entry(path.clone()).or_insert_with(|| what.clone());
            }
            now.retain(|path, _| expected.contains_key(path) || !is_temporary(path));
        }
        if lasting && matches!(kind, Kind::Unlink | Kind::Open | Kind::Stat) {
            now.retain(|path, _| expected.contains_key(path) || !is_temporary(path));
        }
        if lasting && matches!(kind, Kind::RemoveDirectory | Kind::Open | Kind::Stat) {
            let is_file = |what: &String| what.contains(' ');
            now.retain(|path, what| expected.contains_key(path) || is_file(what));
        }
        now
    }

    /// Whether the system denied it.
    fn is_of_rights(&self) -> bool {
        matches!(self.errno, Errno::ACCESS | Errno::PERM)
    }

    /// Whether an answer lacks what could not be read, as its tool may leave
    /// things out: with a word of it, or where nobody may read them.
    fn is_less(&self, result: &Value) -> bool {
        let Answer::Given(right) = self.right else {
            return false;
        };
        let less = &result["structuredContent"];
        if let Some(skipped) = less["skipped"].as_object() {
            let counted: u64 = skipped.values().filter_map(Value::as_u64).sum();
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            return counted > 0 && (text.contains("unreadable") || text.contains("not be read"));
        }
        let items = |result: &Value| result["items"].as_array().cloned().unwrap_or_default();
        let all = items(&right["structuredContent"]);
        let may = self.is_of_rights() || self.errno == Errno::LOOP;
        // Without what is passed over, a page ends further on.
        let is_further = self.case.name.starts_with("more");
        may && (is_further || items(less).iter().all(|item| all.contains(item)))
    }
}
