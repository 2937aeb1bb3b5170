//! Ways out by the spelling of a path: absolute, upwards, and in every form
//! that some resolver reads as something else than the rules do.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::Descriptor;

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{READ, each, enter, look, make, remove, scribble};
use crate::tally::Tally;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "absolute-path",
        what: "open /etc/passwd, / and other absolute paths",
        run: |root| {
            let paths = ["/", "/etc/passwd", "//etc/passwd", "/f.txt", "/..", "/."];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "parent-first",
        what: "walk up: .. and ../outside/secret.txt",
        run: |root| {
            let paths = [
                "..",
                "../",
                "../outside",
                "../outside/secret.txt",
                "../../etc/passwd",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "parent-inside",
        what: "walk down and up again: dir/../../outside/secret.txt",
        run: |root| {
            let paths = [
                "dir/../f.txt",
                "dir/../hidden/f.txt",
                "dir/../not.included",
                "dir/../../outside/secret.txt",
                "dir/deep/../../../outside/secret.txt",
                "dir/./../../outside/secret.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "parent-last",
        what: "end a path with ..: dir/.. and dir/../..",
        run: |root| {
            let paths = ["dir/..", "dir/../", "dir/../..", "dir/deep/../.."];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "parent-behind-nothing",
        what: "walk up behind a directory that does not exist",
        run: |root| {
            let paths = [
                "none/..",
                "none/../f.txt",
                "none/../../outside/secret.txt",
                "none/../hidden/f.txt",
            ];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "parent-behind-a-file",
        what: "walk up behind a file: f.txt/../../outside/secret.txt",
        run: |root| {
            let paths = [
                "f.txt/..",
                "f.txt/../f.txt",
                "f.txt/../../outside/secret.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "parent-of-a-held-directory",
        what: "hold dir and dir/deep, and walk up from there",
        run: parent_of_a_held_directory,
    },
    Attempt {
        name: "parent-many-times",
        what: "hide the way up in hundreds of a/../ and in ../../../..",
        run: |root| {
            let down_and_up = "dir/../".repeat(100) + "../outside/secret.txt";
            let longer = "dir/../".repeat(600) + "../outside/secret.txt";
            let up = "../".repeat(60) + "etc/passwd";
            let far = "../".repeat(2000) + "etc/passwd";
            each(root, &[&down_and_up, &longer, &up, &far], &[look])
        },
    },
    Attempt {
        name: "dot-segments",
        what: "spell paths with . in them: ./f.txt, dir/./f.txt",
        run: |root| {
            let paths = [
                "./f.txt",
                "././f.txt",
                "dir/./f.txt",
                "dir/.",
                "./hidden/f.txt",
                "hidden/./f.txt",
                "./../outside/secret.txt",
                "./",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "doubled-slashes",
        what: "spell paths with doubled slashes: dir//f.txt, hidden//f.txt",
        run: |root| {
            let paths = [
                "dir//f.txt",
                "dir///deep//f.txt",
                "hidden//f.txt",
                "..//outside//secret.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "trailing-slash",
        what: "end names of files, directories and links with a slash",
        run: |root| {
            let paths = ["f.txt/", "f.txt//", "dir/", "hidden/", "link-dir.txt/"];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "empty-path",
        what: "do everything there is with the empty path",
        run: |root| each(root, &[""], &[look, scribble, make, remove]),
    },
    Attempt {
        name: "encoded-parent",
        what: "spell .. as %2e%2e, in wide letters or with invisible ones",
        run: |root| {
            let paths = [
                "%2e%2e/outside/secret.txt",
                "..%2foutside/secret.txt",
                "\u{ff0e}\u{ff0e}/outside/secret.txt",
                "..\u{200b}/outside/secret.txt",
                "..\u{2215}outside\u{2215}secret.txt",
                ".. /outside/secret.txt",
                ".../outside/secret.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "another-preopen",
        what: "look for a second directory among those that were granted",
        run: another_preopen,
    },
];

fn parent_of_a_held_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for (held, paths) in [
        ("dir", ["..", "../f.txt", "../../outside/secret.txt"]),
        (
            "dir/deep",
            ["../..", "../f.txt", "../../../outside/secret.txt"],
        ),
    ] {
        if let Some(directory) = enter(&mut tally, root, held, READ) {
            for path in paths {
                look(&mut tally, &directory, path);
            }
        }
    }
    tally.end()
}

fn another_preopen(_: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let granted = get_directories();
    for (_, name) in granted.iter().skip(1) {
        tally.got(format!("a second directory, {name:?}"));
    }
    for (_, name) in granted.iter().take(1).filter(|(_, name)| name != "/") {
        tally.got(format!("the name of the root on the host, {name:?}"));
    }
    tally.found("one directory, called /");
    tally.end()
}
