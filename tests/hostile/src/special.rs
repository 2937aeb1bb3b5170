//! What is neither a file nor a directory: pipes that could block, sockets,
//! devices, and the doors that /proc keeps open.

use wasip2::filesystem::types::Descriptor;

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{READ, WRITE, each, file, look, make, proof, remove, rename, scribble};
use crate::tally::Tally;
use crate::temporaries::put;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "named-pipe",
        what: "open a named pipe, which would block, to read and to write",
        run: |root| each(root, &["pipe.txt"], &[look, scribble]),
    },
    Attempt {
        name: "socket-file",
        what: "open a socket that stands in the directory",
        run: |root| each(root, &["socket.txt"], &[look, scribble]),
    },
    Attempt {
        name: "below-what-is-no-directory",
        what: "use a pipe, a socket and a file as directories",
        run: |root| {
            let paths = ["pipe.txt/f.txt", "socket.txt/f.txt", "f.txt/f.txt"];
            each(root, &paths, &[look, scribble, make, remove])
        },
    },
    Attempt {
        name: "device",
        what: "open devices by their paths: /dev/null, /dev/tty, /dev/mem",
        run: |root| {
            let paths = [
                "/dev/null",
                "/dev/zero",
                "/dev/tty",
                "/dev/mem",
                "/dev/stdin",
                "/dev/fd/0",
                "../../../../../../dev/null",
            ];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "process-files",
        what: "read the server's own memory, environment and files by /proc",
        run: |root| {
            let paths = [
                "/proc/self/environ",
                "/proc/self/mem",
                "/proc/self/maps",
                "/proc/self/exe",
                "/proc/self/cwd",
                "/proc/self/root/etc/passwd",
                "/proc/self/fd/0",
                "/proc/self/fd/3/f.txt",
                "../../../../../../proc/self/environ",
            ];
            each(root, &paths, &[look, scribble])
        },
    },
    Attempt {
        name: "replace-a-pipe",
        what: "rename a pipe or a socket, and a file onto them",
        run: replace_a_pipe,
    },
];

fn replace_a_pipe(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    for name in ["pipe.txt", "socket.txt"] {
        rename(&mut tally, root, name, "new.txt");
        rename(&mut tally, root, "f.txt", name);
        put(&mut tally, root, root, name);
        // It must still be what it was, and still be closed.
        for rights in [READ, WRITE] {
            if let Some(file) = file(&mut tally, root, name, rights) {
                tally.got(format!("opened {name:?}: {}", proof(&file)));
            }
        }
    }
    tally.end()
}
