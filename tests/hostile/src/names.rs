//! Names that the rules do not serve, and names that some file system or some
//! program reads as another one.

use wasip2::filesystem::types::{Advice, Descriptor};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{MUTATE, READ, each, enter, look, scribble};
use crate::tally::Tally;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "excluded-name",
        what: "read what an exclude rule hides, and ask whether it exists",
        run: |root| {
            let paths = ["hidden/f.txt", "hidden/none.txt", "hidden/deep/none.txt"];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "excluded-directory",
        what: "enter a directory whose every file is hidden",
        run: excluded_directory,
    },
    Attempt {
        name: "name-that-no-rule-includes",
        what: "read what no include rule reaches",
        run: |root| {
            let paths = ["not.included", "none.included"];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "list-what-is-hidden",
        what: "list the root and find what is not served",
        run: list_what_is_hidden,
    },
    Attempt {
        name: "other-case",
        what: "spell names in another case: F.TXT, HIDDEN/f.txt",
        run: |root| {
            let paths = [
                "F.TXT",
                "Not.Included",
                "HIDDEN/f.txt",
                "Hidden/F.txt",
                "hIDDEN/f.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "backslash",
        what: "join names by backslashes: ..\\outside\\secret.txt",
        run: |root| {
            let paths = [
                "dir\\f.txt",
                "hidden\\f.txt",
                "..\\outside\\secret.txt",
                "dir\\..\\f.txt",
                "\\\\?\\C:\\f.txt",
            ];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "drive-prefix",
        what: "begin a path with a drive: C:f.txt, C:/f.txt",
        run: |root| {
            let paths = ["C:f.txt", "C:/f.txt", "c:\\f.txt"];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "nul-in-a-name",
        what: "cut a name short with NUL: not.included\\0.txt",
        run: |root| {
            let paths = [
                "\0",
                "f.txt\0",
                "hidden\0/f.txt",
                "hidden/f.txt\0x.txt",
                "not.included\0.txt",
                "../outside/secret.txt\0.txt",
            ];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "name-with-a-tail",
        what: "add what other systems drop: a dot, a space, ::$DATA",
        run: |root| {
            let paths = [
                "not.included.",
                "not.included ",
                "not.included::$DATA",
                "hidden./f.txt",
                "hidden /f.txt",
                "hidden\n/f.txt",
                "hidde\u{4e}/f.txt",
            ];
            each(root, &paths, &[look])
        },
    },
    Attempt {
        name: "long-name",
        what: "ask for names of 255, 256 and 2000 bytes",
        run: |root| {
            let name = |bytes: usize| "n".repeat(bytes - 4) + ".txt";
            let names = [name(255), name(256), name(2000)];
            each(root, &names.each_ref().map(String::as_str), &[look])
        },
    },
    Attempt {
        name: "long-path",
        what: "ask for paths of thousands of bytes and directories",
        run: |root| {
            let deep = "d/".repeat(500) + "f.txt";
            let deeper = "d/".repeat(20_000) + "f.txt";
            let wide = "/".repeat(70_000) + "etc/passwd";
            each(root, &[&deep, &deeper, &wide], &[look])
        },
    },
];

fn excluded_directory(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for path in ["hidden", "hidden/deep"] {
        for rights in [READ, READ | MUTATE] {
            if let Some(directory) = enter(&mut tally, root, path, rights) {
                tally.got(format!("entered {path:?}"));
                look(&mut tally, &directory, "f.txt");
            }
        }
        look(&mut tally, root, path);
    }
    tally.end()
}

fn list_what_is_hidden(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let Some(stream) = tally.may_fail(root.read_directory()) else {
        return tally.end();
    };
    let mut seen = 0;
    while let Some(Some(entry)) = tally.may_fail(stream.read_directory_entry()) {
        seen += 1;
        let name = entry.name;
        let served = matches!(name.as_str(), "dir" | "empty") || name.ends_with(".txt");
        if !served {
            tally.got(format!("the name {name:?}"));
        }
    }
    // Nor does who says that it will read the directory find more.
    tally.may_fail(root.advise(0, 0, Advice::Sequential));
    if let Some((bytes, _)) = tally.may_fail(root.read(1 << 20, 0)) {
        for entry in bytes
            .split(|byte| *byte == 0)
            .filter(|entry| !entry.is_empty())
        {
            let name = String::from_utf8_lossy(&entry[1..]);
            if !matches!(&*name, "dir" | "empty") && !name.ends_with(".txt") {
                tally.got(format!("read the name {name:?}"));
            }
        }
    }
    if seen == 0 {
        tally.refused("nothing listed");
    }
    tally.found("only names that are served");
    tally.end()
}
