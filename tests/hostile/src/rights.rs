//! Ways to more by a descriptor that was rightly given: reading through one
//! that writes, changing through one that reads, and every operation that no
//! descriptor has.

use wasip2::filesystem::types::{Advice, Descriptor, NewTimestamp, OpenFlags, PathFlags};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{
    FOLLOW, GRAFFITI, MUTATE, NEW, READ, WRITE, append, enter, file, look, make, proof, remove,
    scribble,
};
use crate::tally::Tally;
use crate::temporaries::put;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "read-what-was-opened-to-write",
        what: "read through a descriptor that was opened only to write",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(file) = file(&mut tally, root, "f.txt", WRITE)
                && let Some((bytes, _)) = tally.may_fail(file.read(64, 0))
            {
                tally.got(format!("{:?}", String::from_utf8_lossy(&bytes)));
            }
            tally.end()
        },
    },
    Attempt {
        name: "write-what-was-opened-to-read",
        what: "write and sync through a descriptor that was opened only to read",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(file) = file(&mut tally, root, "f.txt", READ) {
                tally.must_fail("wrote", file.write(GRAFFITI, 0));
                tally.must_fail("synced", file.sync());
                tally.must_fail("synced data", file.sync_data());
            }
            tally.end()
        },
    },
    Attempt {
        name: "truncate",
        what: "cut files short or grow them: set-size on every descriptor",
        run: truncate,
    },
    Attempt {
        name: "set-times",
        what: "set the times of files, directories, links and what is outside",
        run: set_times,
    },
    Attempt {
        name: "streams-of-a-file",
        what: "get streams of files: to read, to write and to append",
        run: streams_of_a_file,
    },
    Attempt {
        name: "change-through-a-reading-directory",
        what: "change entries of a directory that was opened only to read",
        run: change_through_a_reading_directory,
    },
    Attempt {
        name: "widen-a-directory",
        what: "open a directory anew, with more rights than it was given with",
        run: widen_a_directory,
    },
    Attempt {
        name: "file-as-a-directory",
        what: "open, list and change below a file",
        run: file_as_a_directory,
    },
    Attempt {
        name: "directory-as-a-file",
        what: "read, write and cut the root as if it were a file",
        run: directory_as_a_file,
    },
    Attempt {
        name: "write-beyond-every-offset",
        what: "write at the last offsets there are",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(file) = file(&mut tally, root, "f.txt", WRITE) {
                for offset in [u64::MAX, u64::MAX - 6, i64::MAX as u64, 1 << 63] {
                    tally.must_fail("wrote", file.write(GRAFFITI, offset));
                }
            }
            tally.end()
        },
    },
    Attempt {
        name: "advise-the-host",
        what: "advise the host how a file will be used",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(file) = file(&mut tally, root, "f.txt", READ) {
                for advice in [Advice::WillNeed, Advice::DontNeed] {
                    tally.must_fail("advised", file.advise(0, u64::MAX, advice));
                }
            }
            tally.end()
        },
    },
];

fn truncate(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for rights in [READ, WRITE, READ | WRITE] {
        if let Some(file) = file(&mut tally, root, "f.txt", rights) {
            for size in [0, 1, 1 << 50, u64::MAX] {
                tally.must_fail("set the size of f.txt", file.set_size(size));
            }
        }
    }
    tally.must_fail("set the size of the root", root.set_size(0));
    tally.end()
}

fn set_times(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let now = NewTimestamp::Now;
    for rights in [READ, WRITE] {
        if let Some(file) = file(&mut tally, root, "f.txt", rights) {
            tally.must_fail("touched f.txt", file.set_times(now, now));
        }
    }
    tally.must_fail("touched the root", root.set_times(now, now));
    for follow in FOLLOW {
        for path in [
            "f.txt",
            "dir",
            ".",
            "link-out.txt",
            "hidden/f.txt",
            "../outside/secret.txt",
        ] {
            let touched = root.set_times_at(follow, path, now, now);
            tally.must_fail(&format!("touched {path:?}"), touched);
        }
    }
    tally.end()
}

fn streams_of_a_file(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for rights in [READ, WRITE, READ | WRITE] {
        if let Some(file) = file(&mut tally, root, "f.txt", rights) {
            tally.must_fail("a stream to read", file.read_via_stream(0));
            tally.must_fail("a stream to read the end", file.read_via_stream(u64::MAX));
            tally.must_fail("a stream to write", file.write_via_stream(0));
            tally.must_fail("a stream to append", file.append_via_stream());
        }
    }
    tally.must_fail("a stream of the root", root.read_via_stream(0));
    tally.end()
}

fn change_through_a_reading_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    if let Some(directory) = enter(&mut tally, root, "dir", READ) {
        scribble(&mut tally, &directory, "f.txt");
        scribble(&mut tally, &directory, "new.txt");
        append(&mut tally, &directory, "f.txt");
        make(&mut tally, &directory, "new");
        remove(&mut tally, &directory, "f.txt");
        remove(&mut tally, &directory, "deep");
        put(&mut tally, &directory, &directory, "f.txt");
        // From where it may be changed to where it may not.
        put(&mut tally, root, &directory, "f.txt");
        put(&mut tally, &directory, root, "f.txt");
        tally.must_fail("synced it", directory.sync());
    }
    tally.end()
}

fn widen_a_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let Some(directory) = enter(&mut tally, root, "dir", READ) else {
        return tally.end();
    };
    for path in [".", "deep"] {
        for rights in [READ | MUTATE, MUTATE, READ | WRITE | MUTATE] {
            if enter(&mut tally, &directory, path, rights).is_some() {
                tally.got(format!("{path:?} with {rights:?}"));
            }
        }
        if let Some(same) = enter(&mut tally, &directory, path, READ) {
            scribble(&mut tally, &same, "f.txt");
            let opened = same.open_at(PathFlags::empty(), "new.txt", NEW, WRITE);
            tally.must_fail("made a file", opened);
        }
    }
    tally.end()
}

fn file_as_a_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for rights in [READ, WRITE] {
        let Some(file) = file(&mut tally, root, "f.txt", rights) else {
            continue;
        };
        for path in ["f.txt", "..", ".", "../outside/secret.txt", "hidden/f.txt"] {
            let opened = file.open_at(PathFlags::empty(), path, OpenFlags::empty(), READ);
            if let Some(found) = tally.may_fail(opened) {
                tally.got(format!("{path:?}: {}", proof(&found)));
            }
            make(&mut tally, &file, path);
            remove(&mut tally, &file, path);
        }
        for path in ["f.txt", "..", "hidden/f.txt"] {
            look(&mut tally, &file, path);
        }
        tally.must_fail("listed a file", file.read_directory());
        put(&mut tally, root, &file, "f.txt");
    }
    tally.end()
}

fn directory_as_a_file(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    if let Some((bytes, _)) = tally.may_fail(root.read(64, 0)) {
        tally.got(format!("read the root: {bytes:?}"));
    }
    tally.must_fail("wrote to the root", root.write(GRAFFITI, 0));
    tally.must_fail("cut the root", root.set_size(0));
    tally.must_fail("streamed the root", root.write_via_stream(0));
    tally.must_fail("appended to the root", root.append_via_stream());
    for path in ["dir", "."] {
        for rights in [READ, WRITE, READ | WRITE] {
            if let Some(found) = file(&mut tally, root, path, rights) {
                tally.got(format!("{path:?} as a file: {}", proof(&found)));
            }
        }
    }
    tally.end()
}
