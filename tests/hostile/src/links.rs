//! Ways out by links: following those that are there, at every place in a
//! path, making new ones, and learning where one leads.

use wasip2::filesystem::types::{Descriptor, PathFlags};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{FOLLOW, READ, each, enter, file, look, make, remove, rename, scribble};
use crate::tally::Tally;
use crate::temporaries::put;

/// Every link at the top of the root.
const LINKS: [&str; 8] = [
    "link.txt",
    "link-out.txt",
    "link-dir.txt",
    "link-in.txt",
    "link-abs.txt",
    "link-none.txt",
    "link-loop.txt",
    "link-chain.txt",
];

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "link-to-a-file-inside",
        what: "follow a link to a file that is served",
        run: |root| each(root, &["link.txt"], &[look]),
    },
    Attempt {
        name: "link-to-a-file-outside",
        what: "follow a link to a file outside the root",
        run: |root| each(root, &["link-out.txt"], &[look]),
    },
    Attempt {
        name: "link-to-an-absolute-path",
        what: "follow a link to /etc/passwd",
        run: |root| each(root, &["link-abs.txt"], &[look]),
    },
    Attempt {
        name: "link-to-a-directory-outside",
        what: "enter a link to a directory outside, and read a file below it",
        run: |root| {
            let paths = ["link-dir.txt", "link-dir.txt/f.txt", "link-dir.txt/../x"];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "link-to-a-directory-inside",
        what: "enter a link to a directory that is served",
        run: |root| {
            let paths = ["link-in.txt", "link-in.txt/f.txt", "link-in.txt/deep/f.txt"];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "link-to-the-parent",
        what: "walk up by a link to .. that stands in a directory",
        run: link_to_the_parent,
    },
    Attempt {
        name: "link-in-a-chain",
        what: "follow a link to a link that leads outside",
        run: |root| each(root, &["link-chain.txt", "link-chain.txt/f.txt"], &[look]),
    },
    Attempt {
        name: "link-in-a-loop",
        what: "follow a link to itself",
        run: |root| each(root, &["link-loop.txt", "link-loop.txt/f.txt"], &[look]),
    },
    Attempt {
        name: "link-to-nothing",
        what: "follow a link that leads nowhere, and make what it leads to",
        run: |root| {
            let paths = ["link-none.txt", "link-none.txt/f.txt"];
            each(root, &paths, &[look, scribble, make])
        },
    },
    Attempt {
        name: "link-of-proc",
        what: "follow a link to /proc/self/cwd, and read below it",
        run: |root| {
            let paths = [
                "link-proc.txt",
                "link-proc.txt/f.txt",
                "link-proc.txt/etc/passwd.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "link-with-a-slash-behind",
        what: "follow links by ending their names with a slash",
        run: |root| {
            let paths = LINKS.map(|link| format!("{link}/"));
            each(root, &paths.each_ref().map(String::as_str), &[look])
        },
    },
    Attempt {
        name: "read-where-a-link-leads",
        what: "ask every link for its target",
        run: |root| {
            let mut tally = Tally::default();
            for link in LINKS.iter().chain(&["link-proc.txt", "dir/up.txt"]) {
                if let Some(target) = tally.may_fail(root.readlink_at(link)) {
                    tally.got(format!("{link} leads to {target:?}"));
                }
            }
            tally.end()
        },
    },
    Attempt {
        name: "make-a-symbolic-link",
        what: "make links to the outside, then follow them",
        run: make_a_symbolic_link,
    },
    Attempt {
        name: "make-a-hard-link",
        what: "give what is outside or hidden a second name that is served",
        run: make_a_hard_link,
    },
    Attempt {
        name: "put-a-link-in-a-directorys-place",
        what: "remove a directory, put a link in its place and walk through",
        run: put_a_link_in_a_directorys_place,
    },
    Attempt {
        name: "write-through-a-link",
        what: "write, make and rename files through links to the outside",
        run: write_through_a_link,
    },
    Attempt {
        name: "rename-a-link",
        what: "rename links to other names, to follow them there",
        run: |root| {
            let mut tally = Tally::default();
            for link in LINKS {
                rename(&mut tally, root, link, "new.txt");
                rename(&mut tally, root, link, "dir/new.txt");
            }
            look(&mut tally, root, "new.txt");
            tally.end()
        },
    },
    Attempt {
        name: "unlink-a-links-target",
        what: "remove a link, and hope that its target goes instead",
        run: unlink_a_links_target,
    },
];

fn link_to_the_parent(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in [
        "dir/up.txt",
        "dir/up.txt/f.txt",
        "dir/up.txt/hidden/f.txt",
        "dir/up.txt/../outside/secret.txt",
    ] {
        look(&mut tally, root, path);
    }
    if let Some(directory) = enter(&mut tally, root, "dir", READ) {
        for path in ["up.txt", "up.txt/f.txt", "up.txt/dir/up.txt/f.txt"] {
            look(&mut tally, &directory, path);
        }
    }
    tally.end()
}

fn make_a_symbolic_link(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for target in [
        "../outside/secret.txt",
        "/etc/passwd",
        "hidden/f.txt",
        "f.txt",
        "..",
        ".",
    ] {
        let made = root.symlink_at(target, "new.txt");
        tally.must_fail(&format!("made a link to {target:?}"), made);
        look(&mut tally, root, "new.txt");
    }
    let made = root.symlink_at("f.txt", "../outside/new.txt");
    tally.must_fail("made a link outside", made);
    tally.end()
}

fn make_a_hard_link(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for follow in FOLLOW {
        for (old, new) in [
            ("../outside/secret.txt", "new.txt"),
            ("hidden/f.txt", "new.txt"),
            ("not.included", "new.txt"),
            ("link-out.txt", "new.txt"),
            ("f.txt", "../outside/new.txt"),
            ("f.txt", "hidden/new.txt"),
            ("f.txt", "new.txt"),
        ] {
            let made = root.link_at(follow, old, root, new);
            tally.must_fail(&format!("linked {old:?} to {new:?}"), made);
        }
        look(&mut tally, root, "new.txt");
    }
    tally.end()
}

fn put_a_link_in_a_directorys_place(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let held = enter(&mut tally, root, "empty", READ);
    let removed = tally.may_fail(root.remove_directory_at("empty")).is_some();
    let made = root.symlink_at("../outside", "empty");
    tally.must_fail("made a link", made);
    look(&mut tally, root, "empty/secret.txt");
    if let Some(held) = held {
        look(&mut tally, &held, "secret.txt");
    }
    // As it was before, so that only what must not change can have.
    if removed {
        tally.may_fail(root.create_directory_at("empty"));
    }
    tally.end()
}

fn write_through_a_link(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in [
        "link.txt",
        "link-out.txt",
        "link-chain.txt",
        "link-dir.txt/f.txt",
        "link-dir.txt/new.txt",
        "link-in.txt/new.txt",
        "dir/up.txt/new.txt",
    ] {
        scribble(&mut tally, root, path);
        put(&mut tally, root, root, path);
    }
    for path in ["link-dir.txt/new", "link-in.txt/new", "dir/up.txt/new"] {
        make(&mut tally, root, path);
    }
    for path in ["link-dir.txt/f.txt", "link-in.txt/f.txt"] {
        remove(&mut tally, root, path);
    }
    tally.end()
}

fn unlink_a_links_target(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let removed = tally.may_fail(root.unlink_file_at("link.txt")).is_some();
    let trailing = root.unlink_file_at("link-in.txt/f.txt");
    if trailing.is_ok() {
        tally.got("removed a file through a link".to_owned());
    }
    match root.stat_at(PathFlags::empty(), "f.txt") {
        Ok(_) if removed => tally.found("the link went, its target stayed"),
        Ok(_) => {}
        Err(_) => tally.got("removed the target of a link".to_owned()),
    }
    // Nor does a directory that a link leads to.
    if enter(&mut tally, root, "dir", READ).is_none()
        || file(&mut tally, root, "dir/f.txt", READ).is_none()
    {
        tally.got("removed the directory a link leads to".to_owned());
    }
    tally.end()
}
