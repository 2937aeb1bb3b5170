//! Who the server runs as. File modes do not bind the superuser, and only the
//! superuser may give files away, so some tests need the one and some the other.

use std::os::unix::process::CommandExt;

use rustix::fs::{Gid, Uid};

use super::process::binary;
use super::{Launch, Root};

/// The user and the group that own nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// Whether this process is the superuser; says so for the test that needs one.
pub(crate) fn superuser(test: &str) -> bool {
    let superuser = rustix::process::geteuid().is_root();
    if !superuser {
        eprintln!("SKIPPED {test}: it needs the superuser");
    }
    superuser
}

/// A server of this root that runs as an ordinary user who may change the
/// directory itself, whoever runs the tests; says so where there is none.
pub(crate) fn ordinary(test: &str, root: &Root) -> Option<Launch> {
    let launch = Launch::new(root);
    if !rustix::process::geteuid().is_root() {
        return Some(launch);
    }
    let mut probe = binary();
    probe.arg("--version").uid(NOBODY).gid(NOBODY);
    if !probe.output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED {test}: an ordinary user cannot start the program where it lies");
        return None;
    }
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    for directory in [root.above(), &root.path()] {
        rustix::fs::chown(directory, Some(user), Some(group)).expect("chown");
    }
    Some(launch.with(|command| command.uid(NOBODY).gid(NOBODY)))
}
