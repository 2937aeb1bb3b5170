//! Every call of a tool, and every system call it makes failing in its turn, in
//! every way a disk or the process can fail. The server is the real one, with
//! real files.

#![allow(clippy::unwrap_used)]

mod cases;
mod judge;
mod world;

use rustix::io::Errno;
use serde_json::Value;

use self::cases::{Case, Does, READING, REMOVING, WRITING};
use self::judge::Met;
use self::world::{Answer, Picture, World, descriptors, without_temporaries};
use super::{Effect, Fault, Kind, Seen, during};
use crate::confine::forced;

const KINDS: [Kind; 15] = [
    Kind::Open,
    Kind::Stat,
    Kind::List,
    Kind::Rewind,
    Kind::Read,
    Kind::Write,
    Kind::Sync,
    Kind::Lock,
    Kind::SetMode,
    Kind::SetOwner,
    Kind::Rename,
    Kind::Link,
    Kind::Unlink,
    Kind::MakeDirectory,
    Kind::RemoveDirectory,
];

/// One of each error that is told in its own way: every call meets each.
const ERRORS: [Errno; 6] = [
    Errno::IO,
    Errno::MFILE,
    Errno::NOSPC,
    Errno::ROFS,
    Errno::ACCESS,
    Errno::INTR,
];

/// Those that are told as one of them: every kind of call meets each.
const ALIKE: [Errno; 6] = [
    Errno::NFILE,
    Errno::NOMEM,
    Errno::DQUOT,
    Errno::PERM,
    Errno::STALE,
    Errno::LOOP,
];

/// A case in a root of its own, and how it goes without a fault.
struct Trial<'a> {
    world: World,
    case: &'a Case,
    arguments: Value,
    right: Answer,
    seen: Seen,
    before: Picture,
    after: Picture,
    descriptors: usize,
}

impl<'a> Trial<'a> {
    fn new(case: &'a Case) -> Self {
        let world = World::new(case.toolset);
        let arguments = (case.arguments)(&world);
        // Whatever an instance kept for this very call is used up.
        world.call(case.tool, &arguments);
        world.restore();
        let before = world.picture();
        let (right, seen) = during(case.anyway, || world.call(case.tool, &arguments));
        // What goes without a fault is the answer, but where the path is of the other kind.
        let refused = matches!(case.name, "a list of a file" | "a directory as a file");
        assert_eq!(matches!(right, Answer::Refused(_)), refused, "{right:?}");
        let after = world.picture();
        let descriptors = world.descriptors();
        world.restore();
        Self {
            world,
            case,
            arguments,
            right,
            seen,
            before,
            after,
            descriptors,
        }
    }

    /// Calls with these faults in the way too.
    fn call(&self, faults: &[Fault]) -> (Answer, Seen) {
        let all = [faults, self.case.anyway].concat();
        during(&all, || self.world.call(self.case.tool, &self.arguments))
    }

    /// Lets the nth call of a kind fail, for n from 1 until there is no such
    /// call.
    fn sweep(&self, kind: Kind, errno: Errno, lasting: bool) {
        let meets = |nth: &usize| self.meets(kind, *nth, errno, lasting);
        let count = (1..).take_while(meets).count();
        assert!(count >= self.seen.count(kind), "{kind:?}");
    }

    /// Lets the nth call of a kind fail. False: there is none.
    fn meets(&self, kind: Kind, nth: usize, errno: Errno, lasting: bool) -> bool {
        let effect = Effect::Fails(errno);
        let fault = Fault {
            kind,
            nth,
            lasting,
            effect,
        };
        let (answer, seen) = self.call(&[fault]);
        if seen.met[0] {
            self.judge(&fault, errno, &answer);
        } else {
            assert_eq!(answer, self.right);
            self.world.restore();
        }
        seen.met[0]
    }

    fn judge(&self, fault: &Fault, errno: Errno, answer: &Answer) {
        let now = self.world.picture();
        let met = Met {
            case: self.case,
            fault,
            errno,
            right: &self.right,
            before: &self.before,
            after: &self.after,
        };
        met.judge(answer, &now);
        // An instance that is kept for the next page keeps its own.
        if self.descriptors <= 1 {
            let Case { name, tool, .. } = self.case;
            let open = self.world.descriptors();
            assert!(open <= 1, "{open} descriptors: {tool} ({name}), {fault:?}");
        }
        if errno == Errno::IO || fault.lasting {
            self.goes_on(fault, &now);
        }
        self.world.restore();
    }

    /// Nothing is held once there is no server any more.
    fn close(self) {
        let path = self.world.close();
        assert_eq!(
            descriptors(&path),
            0,
            "{} ({})",
            self.case.tool,
            self.case.name
        );
    }

    /// Without the fault everything is as ever, also after what it did.
    fn goes_on(&self, fault: &Fault, now: &Picture) {
        let Case { name, tool, .. } = self.case;
        if without_temporaries(now) != *now && now != &self.before && now != &self.after {
            // Nothing could be removed: the next start does it, in the root itself.
            let swept = self.world.after_a_start();
            let left = swept.keys().find(|path| path.starts_with(".preopen-mcp-"));
            assert_eq!(left, None, "{tool} ({name}), {fault:?}");
        }
        let again = during(self.case.anyway, || self.world.call(tool, &self.arguments));
        let what = || format!("{tool} ({name}) after {fault:?}: {:?}", again.0);
        match self.case.does {
            Does::Read => assert_eq!(again.0, self.right, "{}", what()),
            // It had been done.
            _ if without_temporaries(now) == without_temporaries(&self.after) => {}
            _ => assert!(matches!(again.0, Answer::Given(_)), "{}", what()),
        }
        let after = without_temporaries(&self.world.picture());
        assert_eq!(after, without_temporaries(&self.after), "{}", what());
    }
}

fn every_case() -> impl Iterator<Item = &'static Case> {
    [READING, WRITING, REMOVING].into_iter().flatten()
}

/// The exhaustive sweep over one call.
fn sweep(case: &Case) {
    let trial = Trial::new(case);
    for kind in KINDS {
        let count = trial.seen.count(kind);
        if count == 0 {
            continue;
        }
        for errno in ERRORS {
            trial.sweep(kind, errno, false);
        }
        let lasting = match kind {
            Kind::Open => Errno::MFILE,
            Kind::Write => Errno::NOSPC,
            _ => Errno::IO,
        };
        trial.sweep(kind, lasting, true);
        for (index, errno) in ALIKE.into_iter().enumerate() {
            // There are links where a path leads, and nowhere else.
            if errno != Errno::LOOP || matches!(kind, Kind::Open | Kind::Stat) {
                trial.meets(kind, 1 + index % count, errno, false);
            }
        }
    }
    trial.close();
}

#[test]
fn whatever_fails_is_told_by_the_tools_that_read() {
    READING.iter().for_each(sweep);
}

#[test]
fn whatever_fails_leaves_a_file_old_or_new_and_nothing_else() {
    WRITING.iter().for_each(sweep);
}

#[test]
fn whatever_fails_removes_what_it_says_and_nothing_else() {
    REMOVING.iter().for_each(sweep);
}

#[test]
fn whatever_fails_where_paths_are_walked_is_told_as_well() {
    forced(|| {
        for case in every_case() {
            let trial = Trial::new(case);
            for errno in [Errno::IO, Errno::MFILE] {
                trial.sweep(Kind::Open, errno, false);
            }
        }
    });
}

#[test]
fn no_kind_of_call_is_left_out() {
    let seen: Vec<Kind> = every_case()
        .flat_map(|case| Trial::new(case).seen.calls)
        .collect();
    let missing: Vec<Kind> = KINDS
        .into_iter()
        .filter(|kind| !seen.contains(kind))
        .collect();
    let superuser = rustix::process::geteuid().is_root();
    // Nobody else can have a file that belongs to somebody else.
    let may_be_missing = |kind: &Kind| match kind {
        Kind::SetOwner => !superuser,
        Kind::Rewind => !cfg!(target_os = "linux"),
        _ => false,
    };
    assert!(missing.iter().all(may_be_missing), "{missing:?}");
}

/// Moves so many bytes at a time.
fn by(kind: Kind, nth: usize, lasting: bool, bytes: usize) -> Fault {
    let effect = Effect::MovesAtMost(bytes);
    Fault {
        kind,
        nth,
        lasting,
        effect,
    }
}

#[test]
fn less_than_was_asked_for_changes_nothing() {
    for case in every_case() {
        let trial = Trial::new(case);
        for kind in [Kind::Read, Kind::Write] {
            let (answer, seen) = trial.call(&[by(kind, 1, true, 2)]);
            assert_eq!(seen.met[0], trial.seen.count(kind) > 0);
            assert_eq!(answer, trial.right, "{} ({})", case.tool, case.name);
            assert_eq!(trial.world.picture(), trial.after);
            trial.world.restore();
        }
    }
}

#[test]
fn what_fails_behind_a_part_fails() {
    for case in every_case() {
        let trial = Trial::new(case);
        for (kind, errno) in [(Kind::Read, Errno::IO), (Kind::Write, Errno::NOSPC)] {
            let fails = |nth: &usize| {
                let fault = Fault {
                    kind,
                    nth: nth + 1,
                    lasting: true,
                    effect: Effect::Fails(errno),
                };
                let (answer, seen) = trial.call(&[by(kind, *nth, false, 2), fault]);
                // Behind what is found at the end of a file nothing is read.
                if seen.met[1] {
                    assert_ne!(answer, trial.right, "{} ({})", case.tool, case.name);
                    trial.judge(&fault, errno, &answer);
                }
                trial.world.restore();
                seen.met[1]
            };
            let count = trial.seen.count(kind);
            let failed = (1..=count).filter(fails).count();
            assert_eq!(failed > 0, count > 0, "{} ({})", case.tool, case.name);
        }
    }
}
