//! The calls that most attempts are made of: everything that reads, writes or
//! changes what a path names. They know nothing of which paths are worth it.

use wasip2::filesystem::types::{Descriptor, DescriptorFlags, NewTimestamp, OpenFlags, PathFlags};

use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::tally::Tally;

pub(crate) const READ: DescriptorFlags = DescriptorFlags::READ;
pub(crate) const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
pub(crate) const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// A new file, and nothing else.
pub(crate) const NEW: OpenFlags = OpenFlags::CREATE.union(OpenFlags::EXCLUSIVE);

/// Both ways to resolve a path.
pub(crate) const FOLLOW: [PathFlags; 2] = [PathFlags::empty(), PathFlags::SYMLINK_FOLLOW];

/// What is written where nothing must be.
pub(crate) const GRAFFITI: &[u8] = b"HOSTILE";

/// Bytes of a file that are shown as proof.
const PROOF: u64 = 64;

/// What can be read of a file, as proof that it can.
pub(crate) fn proof(file: &Descriptor) -> String {
    match file.read(PROOF, 0) {
        Ok((bytes, _)) => format!("{:?}", String::from_utf8_lossy(&bytes)),
        Err(code) => format!("an open file that gives {}", code.name()),
    }
}

/// Tries to read, enter or describe what `path` names from `directory`.
pub(crate) fn look(tally: &mut Tally, directory: &Descriptor, path: &str) {
    for follow in FOLLOW {
        let opened = directory.open_at(follow, path, OpenFlags::empty(), READ);
        if let Some(file) = tally.may_fail(opened) {
            tally.got(format!("read {path:?}: {}", proof(&file)));
        }
        let entered = directory.open_at(follow, path, OpenFlags::DIRECTORY, READ);
        tally.must_fail(&format!("entered {path:?}"), entered);
        let described = directory.stat_at(follow, path);
        tally.must_fail(&format!("described {path:?}"), described);
        let hashed = directory.metadata_hash_at(follow, path);
        tally.must_fail(&format!("hashed {path:?}"), hashed);
    }
}

/// Tries to change or make a file at `path`, in every way there is.
pub(crate) fn scribble(tally: &mut Tally, directory: &Descriptor, path: &str) {
    for follow in FOLLOW {
        for (open, rights) in [
            (OpenFlags::empty(), WRITE),
            (OpenFlags::empty(), READ | WRITE),
            (OpenFlags::TRUNCATE, WRITE),
            (OpenFlags::CREATE, WRITE),
            (OpenFlags::CREATE | OpenFlags::TRUNCATE, WRITE),
            (NEW, WRITE),
        ] {
            if let Some(file) = tally.may_fail(directory.open_at(follow, path, open, rights)) {
                tally.got(format!("opened {path:?} to write"));
                // Whether the write works as well shows on the disk.
                let _ = file.write(GRAFFITI, 0);
                let _ = file.sync();
            }
        }
        let now = NewTimestamp::Now;
        let touched = directory.set_times_at(follow, path, now, now);
        tally.must_fail(&format!("touched {path:?}"), touched);
    }
}

/// Tries to add to a file at `path` by a stream.
pub(crate) fn append(tally: &mut Tally, directory: &Descriptor, path: &str) {
    for open in [OpenFlags::empty(), OpenFlags::CREATE] {
        let opened = directory.open_at(PathFlags::SYMLINK_FOLLOW, path, open, WRITE);
        if let Some(file) = tally.may_fail(opened) {
            tally.got(format!("opened {path:?} to append"));
            if let Some(stream) = tally.may_fail(file.append_via_stream()) {
                let _ = stream.blocking_write_and_flush(GRAFFITI);
            }
        }
    }
}

/// Tries to remove what is at `path`, as a file and as a directory.
pub(crate) fn remove(tally: &mut Tally, directory: &Descriptor, path: &str) {
    tally.must_fail(
        &format!("unlinked {path:?}"),
        directory.unlink_file_at(path),
    );
    tally.must_fail(
        &format!("removed {path:?}"),
        directory.remove_directory_at(path),
    );
}

/// Tries to make a directory at `path`.
pub(crate) fn make(tally: &mut Tally, directory: &Descriptor, path: &str) {
    tally.must_fail(
        &format!("made {path:?}"),
        directory.create_directory_at(path),
    );
}

/// Tries to give `from` the name `to`.
pub(crate) fn rename(tally: &mut Tally, directory: &Descriptor, from: &str, to: &str) {
    let renamed = directory.rename_at(from, directory, to);
    tally.must_fail(&format!("renamed {from:?} to {to:?}"), renamed);
}

/// Does `what` with each of `paths`, as one attempt.
pub(crate) fn each(
    directory: &Descriptor,
    paths: &[&str],
    what: &[fn(&mut Tally, &Descriptor, &str)],
) -> Outcome {
    let mut tally = Tally::default();
    for path in paths {
        for step in what {
            step(&mut tally, directory, path);
        }
    }
    tally.end()
}

/// Opens a directory that is served, with these rights.
pub(crate) fn enter(
    tally: &mut Tally,
    directory: &Descriptor,
    path: &str,
    rights: DescriptorFlags,
) -> Option<Descriptor> {
    tally.may_fail(directory.open_at(PathFlags::empty(), path, OpenFlags::DIRECTORY, rights))
}

/// Opens a file that is served, with these rights.
pub(crate) fn file(
    tally: &mut Tally,
    directory: &Descriptor,
    path: &str,
    rights: DescriptorFlags,
) -> Option<Descriptor> {
    tally.may_fail(directory.open_at(PathFlags::empty(), path, OpenFlags::empty(), rights))
}
