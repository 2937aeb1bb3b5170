//! The one kind of name that no rule decides on: that of a temporary, which
//! may be made and renamed into a served file's place. Ways to leave one
//! behind, to find one again, and to carry it to where nothing is served.

use std::mem;

use wasip2::filesystem::types::{Descriptor, OpenFlags, PathFlags};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{GRAFFITI, NEW, READ, WRITE, each, enter, look, make, remove, rename, scribble};
use crate::tally::Tally;

/// A name of the reserved form.
pub(crate) const TEMPORARY: &str = ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp";

/// What a killed process left in the hidden directory.
const LEFT: &str = ".preopen-mcp-00000000000000000000000000000000.tmp";

/// Another one.
const OTHER: &str = ".preopen-mcp-fedcba9876543210fedcba9876543210.tmp";

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "leave-a-temporary",
        what: "make temporaries, write to them, and never let go of them",
        run: leave_a_temporary,
    },
    Attempt {
        name: "leave-half-a-file",
        what: "make a new file, write half of it, and never let go of it",
        run: leave_half_a_file,
    },
    Attempt {
        name: "find-a-temporary",
        what: "open, describe and list a temporary by its name",
        run: find_a_temporary,
    },
    Attempt {
        name: "temporary-of-a-hidden-directory",
        what: "carry a temporary out of a hidden directory, or remove it there",
        run: |root| {
            let mut tally = Tally::default();
            let hidden = format!("hidden/{LEFT}");
            rename(&mut tally, root, &hidden, "new.txt");
            let linked = root.link_at(PathFlags::empty(), &hidden, root, "new.txt");
            tally.must_fail("linked it to \"new.txt\"", linked);
            look(&mut tally, root, "new.txt");
            remove(&mut tally, root, &hidden);
            tally.end()
        },
    },
    Attempt {
        name: "temporary-to-where-nothing-is-served",
        what: "rename a temporary to what is hidden, not included or outside",
        run: |root| {
            let mut tally = Tally::default();
            for to in [
                "hidden/x.txt",
                "hidden/f.txt",
                "not.included",
                "new.included",
                "../outside/new.txt",
                "../new.txt",
                "/tmp/preopen-hostile-new.txt",
                "f.txt/",
                "dir/../new.txt",
                "",
                ".",
                OTHER,
            ] {
                put(&mut tally, root, root, to);
            }
            tally.end()
        },
    },
    Attempt {
        name: "temporary-over-what-is-no-file",
        what: "rename a temporary over a directory, a link and a pipe",
        run: |root| {
            let mut tally = Tally::default();
            for to in [
                "dir",
                "empty",
                "link.txt",
                "link-out.txt",
                "link-none.txt",
                "pipe.txt",
                "socket.txt",
            ] {
                put(&mut tally, root, root, to);
            }
            tally.end()
        },
    },
    Attempt {
        name: "temporary-where-nothing-is-served",
        what: "make a temporary in a hidden directory, outside, and over a link",
        run: |root| {
            let paths = ["hidden", "../outside", "link-dir.txt", "dir/up.txt", "/tmp"]
                .map(|directory| format!("{directory}/{TEMPORARY}"));
            each(root, &paths.each_ref().map(String::as_str), &[scribble])
        },
    },
    Attempt {
        name: "directory-named-like-a-temporary",
        what: "make a directory with a temporary's name, and a file below it",
        run: |root| {
            let mut tally = Tally::default();
            make(&mut tally, root, TEMPORARY);
            let below = format!("{TEMPORARY}/new.txt");
            scribble(&mut tally, root, &below);
            look(&mut tally, root, TEMPORARY);
            tally.end()
        },
    },
    Attempt {
        name: "almost-a-temporary",
        what: "make files whose names are almost those of temporaries",
        run: |root| {
            let paths = [
                ".preopen-mcp-.tmp",
                ".preopen-mcp-0123456789abcdef0123456789abcde.tmp",
                ".preopen-mcp-0123456789abcdef0123456789abcdef0.tmp",
                ".preopen-mcp-0123456789ABCDEF0123456789ABCDEF.tmp",
                ".preopen-mcp-0123456789abcdef0123456789abcdeg.tmp",
                ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp.x",
                "x.preopen-mcp-0123456789abcdef0123456789abcdef.tmp",
            ];
            each(root, &paths, &[scribble])
        },
    },
    Attempt {
        name: "rename-a-temporary-that-is-not-there",
        what: "rename a temporary that nobody made, and one outside",
        run: |root| {
            let mut tally = Tally::default();
            rename(&mut tally, root, OTHER, "f.txt");
            for directory in ["../outside", "hidden", "link-dir.txt", "/tmp"] {
                let from = format!("{directory}/{OTHER}");
                rename(&mut tally, root, &from, "new.txt");
            }
            tally.end()
        },
    },
];

/// Makes a temporary below `from` and tries to give it the name `to` below
/// `target`, where it must not go. What is left of it goes with its descriptor.
pub(crate) fn put(tally: &mut Tally, from: &Descriptor, target: &Descriptor, to: &str) {
    let made = from.open_at(PathFlags::empty(), TEMPORARY, NEW, WRITE);
    if let Some(file) = tally.may_fail(made) {
        tally.may_fail(file.write(GRAFFITI, 0));
        tally.may_fail(file.sync());
        let renamed = from.rename_at(TEMPORARY, target, to);
        tally.must_fail(&format!("put a file at {to:?}"), renamed);
    }
}

fn leave_a_temporary(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in [
        TEMPORARY,
        "dir/deep/.preopen-mcp-0123456789abcdef0123456789abcdef.tmp",
    ] {
        let made = root.open_at(PathFlags::empty(), path, NEW, WRITE);
        if let Some(file) = tally.may_fail(made) {
            tally.may_fail(file.write(GRAFFITI, 0));
            tally.may_fail(file.sync());
            mem::forget(file);
        }
    }
    tally.found("made two and let go of none");
    tally.end()
}

fn leave_half_a_file(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in ["half.txt", "dir/half.txt"] {
        let made = root.open_at(PathFlags::empty(), path, NEW, WRITE);
        if let Some(file) = tally.may_fail(made) {
            tally.may_fail(file.write(GRAFFITI, 0));
            mem::forget(file);
        }
    }
    tally.found("made two and let go of none");
    tally.end()
}

fn find_a_temporary(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let made = root.open_at(PathFlags::empty(), TEMPORARY, NEW, WRITE);
    let Some(_held) = tally.may_fail(made) else {
        return tally.end();
    };
    look(&mut tally, root, TEMPORARY);
    for rights in [READ, WRITE, READ | WRITE] {
        let opened = root.open_at(PathFlags::empty(), TEMPORARY, OpenFlags::empty(), rights);
        tally.must_fail("opened it by its name", opened);
    }
    let again = root.open_at(PathFlags::empty(), TEMPORARY, NEW, WRITE);
    tally.must_fail("made it a second time", again);
    if let Some(same) = enter(&mut tally, root, ".", READ)
        && let Some(stream) = tally.may_fail(same.read_directory())
    {
        while let Some(Some(entry)) = tally.may_fail(stream.read_directory_entry()) {
            if entry.name.ends_with(".tmp") {
                tally.got(format!("listed {:?}", entry.name));
            }
        }
    }
    // Removing it by its name is the tools' own way to clean up.
    tally.may_fail(root.unlink_file_at(TEMPORARY));
    remove(&mut tally, root, TEMPORARY);
    tally.end()
}
