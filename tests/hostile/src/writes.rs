//! Changes where nothing may be changed: what is hidden, what no rule
//! includes, what is outside, and the root itself. Every one would show.

use wasip2::filesystem::types::Descriptor;

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{MUTATE, READ, append, each, enter, look, make, remove, rename, scribble};
use crate::tally::Tally;

/// What stands outside or is not served.
const NOT_SERVED: [&str; 4] = [
    "hidden/f.txt",
    "not.included",
    "../outside/secret.txt",
    "../outside/dir/f.txt",
];

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "write-what-is-hidden",
        what: "overwrite and make files that an exclude rule hides",
        run: |root| each(root, &["hidden/f.txt", "hidden/new.txt"], &[scribble]),
    },
    Attempt {
        name: "write-what-no-rule-includes",
        what: "overwrite and make files that no include rule reaches",
        run: |root| each(root, &["not.included", "new.included"], &[scribble]),
    },
    Attempt {
        name: "write-outside",
        what: "overwrite and make files outside the root",
        run: |root| {
            let paths = [
                "../outside/secret.txt",
                "../outside/new.txt",
                "../new.txt",
                "dir/../../new.txt",
                "/tmp/preopen-hostile-new.txt",
            ];
            each(root, &paths, &[scribble])
        },
    },
    Attempt {
        name: "append-to-what-is-not-served",
        what: "append to files that are hidden, not included or outside",
        run: |root| each(root, &NOT_SERVED, &[append]),
    },
    Attempt {
        name: "remove-what-is-not-served",
        what: "unlink files that are hidden, not included or outside",
        run: |root| each(root, &NOT_SERVED, &[remove]),
    },
    Attempt {
        name: "remove-a-directory-that-is-not-served",
        what: "remove directories that are hidden or outside",
        run: |root| {
            let paths = ["hidden", "../outside/dir", "../outside", ".."];
            each(root, &paths, &[remove])
        },
    },
    Attempt {
        name: "remove-a-directory-with-what-is-in-it",
        what: "remove a directory that is not empty, or unlink it as a file",
        run: |root| each(root, &["dir", "dir/deep"], &[remove]),
    },
    Attempt {
        name: "make-a-directory-where-none-may-be",
        what: "make directories that are hidden or outside, or over files",
        run: |root| {
            let paths = [
                "hidden",
                "hidden/new",
                "../new",
                "../outside/new",
                "dir/../../new",
                "/tmp/preopen-hostile-new",
                "f.txt",
                "dir",
                "link-none.txt",
            ];
            each(root, &paths, &[make])
        },
    },
    Attempt {
        name: "change-the-root-itself",
        what: "remove, rename and replace the root",
        run: change_the_root_itself,
    },
    Attempt {
        name: "rename-what-is-served-out",
        what: "rename served files and directories to where nothing is served",
        run: |root| {
            let mut tally = Tally::default();
            for from in ["f.txt", "dir", "dir/f.txt", "empty"] {
                for to in [
                    "../outside/new.txt",
                    "../new",
                    "hidden/new.txt",
                    "hidden",
                    "not.included",
                    "new.included",
                    "/tmp/preopen-hostile-new",
                ] {
                    rename(&mut tally, root, from, to);
                }
            }
            tally.end()
        },
    },
    Attempt {
        name: "rename-what-is-outside-in",
        what: "rename what is outside, hidden or not included to a served name",
        run: |root| {
            let mut tally = Tally::default();
            for from in NOT_SERVED.iter().chain(&["hidden", "../outside", ".."]) {
                for to in ["new.txt", "dir/new.txt", "f.txt", "new"] {
                    rename(&mut tally, root, from, to);
                }
            }
            look(&mut tally, root, "new.txt");
            look(&mut tally, root, "new/f.txt");
            tally.end()
        },
    },
    Attempt {
        name: "rename-what-is-served",
        what: "rename served files among served names",
        run: |root| {
            let mut tally = Tally::default();
            for (from, to) in [
                ("f.txt", "new.txt"),
                ("f.txt", "dir/f.txt"),
                ("dir/deep", "deep"),
                ("dir", "dir/deep/dir"),
                ("f.txt", "f.txt"),
            ] {
                rename(&mut tally, root, from, to);
            }
            tally.end()
        },
    },
    Attempt {
        name: "rename-a-held-directory-and-walk-up",
        what: "hold a directory, move it upwards, and walk up from it",
        run: rename_a_held_directory_and_walk_up,
    },
    Attempt {
        name: "walk-up-from-a-removed-directory",
        what: "hold a directory, remove it, and walk up or make files from it",
        run: walk_up_from_a_removed_directory,
    },
];

fn change_the_root_itself(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in [".", "", "/", "./", "dir/.."] {
        remove(&mut tally, root, path);
        make(&mut tally, root, path);
        scribble(&mut tally, root, path);
        rename(&mut tally, root, path, "new.txt");
        rename(&mut tally, root, path, "../new");
        rename(&mut tally, root, "dir", path);
    }
    tally.end()
}

fn rename_a_held_directory_and_walk_up(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let Some(held) = enter(&mut tally, root, "dir/deep", READ) else {
        return tally.end();
    };
    for to in ["deep", "../deep", "hidden/deep", "empty"] {
        rename(&mut tally, root, "dir/deep", to);
        for path in [
            "..",
            "../f.txt",
            "../../f.txt",
            "../outside/secret.txt",
            "../../outside/secret.txt",
        ] {
            look(&mut tally, &held, path);
        }
    }
    // By the held descriptor itself.
    let moved = held.rename_at(".", root, "new");
    tally.must_fail("moved what is held", moved);
    tally.end()
}

fn walk_up_from_a_removed_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let made = tally.may_fail(root.create_directory_at("gone"));
    let held = made.and_then(|()| enter(&mut tally, root, "gone", READ | MUTATE));
    tally.may_fail(root.remove_directory_at("gone"));
    if let Some(held) = held {
        for path in ["..", "../f.txt", "../../outside/secret.txt", "f.txt"] {
            look(&mut tally, &held, path);
        }
        scribble(&mut tally, &held, "new.txt");
        make(&mut tally, &held, "new");
    }
    tally.end()
}
