//! Linux: directories are watched by fanotify(7), through descriptors alone,
//! so that nothing can be watched that could not be opened. What it does not
//! tell, that something was mounted over a directory, the list of mounts does.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstatfs;

/// File systems that only this machine changes, and that tell of every change:
/// the numbers of statfs(2).
const LOCAL: [i64; 8] = [
    0x0000_EF53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0xF2F5_2010, // f2fs
    0x2FC1_2FC1, // zfs
    0xCA45_1A4E, // bcachefs
    0x0102_1994, // tmpfs
    0x794C_7630, // overlayfs
];

/// What a group of watches is made with: events name what they are of by a
/// handle, as they must where the process has no privileges, and never bring a
/// descriptor along.
pub(crate) const WATCH_GROUP: u32 =
    libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | libc::FAN_REPORT_FID;

/// Where a root stands.
#[derive(Debug)]
pub(crate) struct Surroundings {
    is_local: bool,
    mounts: Option<Mutex<Mounts>>,
}

/// The list of mounts, which says when it changes (proc(5)), and how often it
/// has.
#[derive(Debug)]
struct Mounts {
    list: File,
    changes: u64,
}

impl Surroundings {
    /// Those of `root`. To be asked before the process gives up its rights.
    pub(crate) fn of(root: BorrowedFd<'_>) -> Self {
        Self {
            is_local: fstatfs(root).is_ok_and(|found| LOCAL.contains(&found.f_type)),
            mounts: File::open("/proc/self/mountinfo")
                .ok()
                .map(|list| Mutex::new(Mounts { list, changes: 0 })),
        }
    }

    /// Whether what stands here tells of every change by its times.
    pub(super) fn is_telling(&self) -> bool {
        self.is_local
    }

    /// How often mounts have changed, if that can be told.
    fn mount_changes(&self) -> Option<u64> {
        let mut mounts = self
            .mounts
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if has_news(&mounts.list, PollFlags::PRI | PollFlags::ERR)? {
            mounts.changes += 1;
        }
        Some(mounts.changes)
    }
}

/// Whether any of `events` waits at `source`.
fn has_news(source: impl AsFd, events: PollFlags) -> Option<bool> {
    let mut asked = [PollFd::new(&source, events)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let count = poll(&mut asked, Some(&now)).ok()?;
    Some(count > 0)
}

/// A watch over directories.
#[derive(Debug)]
pub(super) struct Watch {
    group: Fanotify,
    mount_changes: u64,
}

impl Watch {
    /// One over nothing yet, where the system has such a thing.
    pub(super) fn new(around: &Surroundings) -> Option<Self> {
        let flags = InitFlags::from_bits_retain(WATCH_GROUP);
        Some(Self {
            mount_changes: around.mount_changes()?,
            group: Fanotify::init(flags, EventFFlags::empty()).ok()?,
        })
    }

    /// Watches `directory` as well. False: that is not possible.
    pub(super) fn add(&self, directory: BorrowedFd<'_>) -> bool {
        let events = MaskFlags::FAN_CREATE
            | MaskFlags::FAN_DELETE
            | MaskFlags::FAN_MOVE
            | MaskFlags::FAN_ATTRIB
            | MaskFlags::FAN_DELETE_SELF
            | MaskFlags::FAN_MOVE_SELF
            | MaskFlags::FAN_EVENT_ON_CHILD
            | MaskFlags::FAN_ONDIR;
        // By the descriptor: no path is looked up.
        let path = None::<&Path>;
        let added = self
            .group
            .mark(MarkFlags::FAN_MARK_ADD, events, directory, path);
        added.is_ok()
    }

    /// Whether nothing has happened so far.
    pub(super) fn is_silent(&self, around: &Surroundings) -> bool {
        has_news(&self.group, PollFlags::IN) == Some(false)
            && around.mount_changes() == Some(self.mount_changes)
    }
}
