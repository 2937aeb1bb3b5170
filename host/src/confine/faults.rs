//! Makes chosen system calls of confinement fail, as a disk does or a limit of
//! the process. In every build but that of this crate's own tests none ever
//! does: the answer is a constant. It knows calls by their kind alone.

use rustix::fs::FileType;
use rustix::io::Errno;

/// A system call, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Stat,
    List,
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only there a listing is begun anew")
    )]
    Rewind,
    Read,
    Write,
    Sync,
    Lock,
    SetMode,
    SetOwner,
    Rename,
    Link,
    Unlink,
    MakeDirectory,
    RemoveDirectory,
}

#[cfg(not(test))]
mod never {
    use super::{Errno, FileType, Kind};

    /// Asked before every call: whether it fails instead of being made.
    pub(crate) const fn meet(_: Kind) -> Result<(), Errno> {
        Ok(())
    }

    /// The most bytes that the call moves, if it is fewer than it could.
    pub(crate) const fn most(_: Kind) -> Option<usize> {
        None
    }

    /// The kind that a listing tells of an entry.
    pub(crate) const fn told(kind: FileType) -> FileType {
        kind
    }

    /// Does what is no part of the product, such as checking it.
    #[cfg(all(debug_assertions, target_os = "linux"))]
    pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
}

#[cfg(not(test))]
pub(crate) use never::*;

#[cfg(test)]
mod armed {
    use std::cell::RefCell;

    use super::{Errno, FileType, Kind};

    /// What becomes of the calls that a fault meets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Effect {
        /// They are not made and fail.
        Fails(Errno),
        /// They move so many bytes, however many they were asked for.
        MovesAtMost(usize),
        /// Listings do not say what their entries are.
        TellsNoKind,
    }

    /// Which calls are met, and what becomes of them.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Fault {
        pub(crate) kind: Kind,
        /// The first of them, counted from 1.
        pub(crate) nth: usize,
        /// Whether all that follow are met too.
        pub(crate) lasting: bool,
        pub(crate) effect: Effect,
    }

    /// What was asked for while a fault was armed.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Seen {
        /// Every call in its order.
        pub(crate) calls: Vec<Kind>,
        /// Of each fault, whether it met any.
        pub(crate) met: Vec<bool>,
    }

    impl Seen {
        /// How many calls of a kind there were.
        pub(crate) fn count(&self, kind: Kind) -> usize {
            self.calls.iter().filter(|call| **call == kind).count()
        }
    }

    struct State {
        faults: Vec<Fault>,
        seen: Seen,
    }

    thread_local! {
        static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
    }

    /// Does `work` on this thread with faults in its way, and takes note.
    pub(crate) fn during<T>(faults: &[Fault], work: impl FnOnce() -> T) -> (T, Seen) {
        STATE.set(Some(State {
            faults: faults.to_vec(),
            seen: Seen {
                calls: Vec::new(),
                met: vec![false; faults.len()],
            },
        }));
        let done = work();
        let state = STATE.take().expect("nobody else disarms");
        (done, state.seen)
    }

    /// What `pick` makes of the effects on the call of this kind that was
    /// counted last.
    fn met<T>(kind: Kind, pick: impl Fn(Effect) -> Option<T>) -> Option<T> {
        STATE.with_borrow_mut(|state| {
            let State { faults, seen } = state.as_mut()?;
            let now = seen.count(kind);
            faults.iter().zip(&mut seen.met).find_map(|(fault, met)| {
                let meets = now == fault.nth || fault.lasting && now > fault.nth;
                let picked = (fault.kind == kind && meets).then(|| pick(fault.effect))?;
                *met |= picked.is_some();
                picked
            })
        })
    }

    pub(crate) fn meet(kind: Kind) -> Result<(), Errno> {
        STATE.with_borrow_mut(|state| {
            if let Some(state) = state {
                state.seen.calls.push(kind);
            }
        });
        let errno = met(kind, |effect| match effect {
            Effect::Fails(errno) => Some(errno),
            _ => None,
        });
        errno.map_or(Ok(()), Err)
    }

    pub(crate) fn most(kind: Kind) -> Option<usize> {
        met(kind, |effect| match effect {
            Effect::MovesAtMost(bytes) => Some(bytes),
            _ => None,
        })
    }

    pub(crate) fn told(kind: FileType) -> FileType {
        let told = met(Kind::List, |effect| {
            (effect == Effect::TellsNoKind).then_some(FileType::Unknown)
        });
        told.unwrap_or(kind)
    }

    #[cfg(all(debug_assertions, target_os = "linux"))]
    pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
        let state = STATE.take();
        let done = work();
        STATE.set(state);
        done
    }
}

#[cfg(test)]
pub(crate) use armed::*;

#[cfg(test)]
mod sweep;
