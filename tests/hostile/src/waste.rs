//! Using up what the host keeps for a component: handles, listings, memory on
//! the host's side. Each ends by itself, one way or another.

use wasip2::cli::stdin::get_stdin;
use wasip2::cli::stdout::get_stdout;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DirectoryEntryStream, ErrorCode, OpenFlags, PathFlags,
};
use wasip2::io::poll::poll;
use wasip2::random::{insecure, random};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{GRAFFITI, READ, file, proof};
use crate::tally::Tally;

/// More handles than any host hands out to one component.
const MANY: usize = 1 << 20;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "files-until-refused",
        what: "open one file again and again until the host refuses",
        run: |root| {
            until_refused(root, |root| {
                root.open_at(PathFlags::empty(), "f.txt", OpenFlags::empty(), READ)
            })
        },
    },
    Attempt {
        name: "directories-until-refused",
        what: "open one directory again and again until the host refuses",
        run: |root| {
            until_refused(root, |root| {
                root.open_at(PathFlags::empty(), "dir", OpenFlags::DIRECTORY, READ)
            })
        },
    },
    Attempt {
        name: "listings-until-refused",
        what: "begin listings of the root until the host refuses",
        run: |root| until_refused::<DirectoryEntryStream>(root, Descriptor::read_directory),
    },
    Attempt {
        name: "roots-without-end",
        what: "ask for the granted directory again and again",
        run: |_| without_end(get_directories),
    },
    Attempt {
        name: "streams-without-end",
        what: "ask for standard output again and again",
        run: |_| without_end(get_stdout),
    },
    Attempt {
        name: "timers-without-end",
        what: "set timers again and again",
        run: |_| without_end(|| subscribe_duration(1 << 60)),
    },
    Attempt {
        name: "random-bytes-without-end",
        what: "ask for more random bytes than there is memory",
        run: |_| {
            let mut tally = Tally::default();
            let given = random::get_random_bytes(u64::MAX).len();
            tally.got(format!("{given} random bytes"));
            tally.end()
        },
    },
    Attempt {
        name: "poor-random-bytes-without-end",
        what: "ask for more insecure random bytes than there is memory",
        run: |_| {
            let mut tally = Tally::default();
            let given = insecure::get_insecure_random_bytes(1 << 40).len();
            tally.got(format!("{given} random bytes"));
            tally.end()
        },
    },
    Attempt {
        name: "zeroes-without-end",
        what: "make the host write more zeroes than there is memory",
        run: |_| {
            let mut tally = Tally::default();
            match get_stdout().write_zeroes(1 << 40) {
                Ok(()) => tally.got("a host that takes them all".to_owned()),
                Err(_) => tally.refused("closed"),
            }
            tally.end()
        },
    },
    Attempt {
        name: "write-more-than-agreed",
        what: "write more to a stream at once than it takes",
        run: |_| {
            let mut tally = Tally::default();
            let bytes = GRAFFITI.repeat(100_000);
            match get_stdout().blocking_write_and_flush(&bytes) {
                Ok(()) => tally.got("a host that takes it all".to_owned()),
                Err(_) => tally.refused("closed"),
            }
            tally.end()
        },
    },
    Attempt {
        name: "splice-without-end",
        what: "let the host copy from standard input to standard output",
        run: |_| {
            let mut tally = Tally::default();
            match get_stdout().blocking_splice(&get_stdin(), u64::MAX) {
                Ok(0) => tally.found("nothing to copy"),
                Ok(copied) => tally.got(format!("{copied} bytes of the client's")),
                Err(_) => tally.refused("closed"),
            }
            tally.end()
        },
    },
    Attempt {
        name: "poll-nothing",
        what: "wait for nothing at all",
        run: |_| {
            let mut tally = Tally::default();
            let ready = poll(&[]);
            tally.found(format!("{} events", ready.len()));
            tally.end()
        },
    },
    Attempt {
        name: "poll-one-thing-many-times",
        what: "wait for one thing a hundred thousand times over",
        run: |_| {
            let mut tally = Tally::default();
            let stream = get_stdout();
            let ready = stream.subscribe();
            let events = poll(&vec![&ready; 100_000]).len();
            tally.found(format!("{events} events"));
            tally.end()
        },
    },
    Attempt {
        name: "read-nothing",
        what: "read no bytes at all, at every place of a file",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(file) = file(&mut tally, root, "f.txt", READ) {
                for offset in [0, 1, 1 << 40, u64::MAX] {
                    match tally.may_fail(file.read(0, offset)) {
                        Some((bytes, _)) if bytes.is_empty() => tally.found("nothing"),
                        Some((bytes, _)) => tally.got(format!("{} bytes", bytes.len())),
                        None => {}
                    }
                }
            }
            tally.end()
        },
    },
    Attempt {
        name: "read-more-than-there-is",
        what: "read as many bytes as a number can say, from everywhere",
        run: read_more_than_there_is,
    },
];

/// Takes one thing after another until none is left, lets go of all of them
/// and sees whether the host has recovered.
fn until_refused<T>(root: &Descriptor, take: fn(&Descriptor) -> Result<T, ErrorCode>) -> Outcome {
    let mut tally = Tally::default();
    let mut held = Vec::new();
    while held.len() < MANY
        && let Some(taken) = tally.may_fail(take(root))
    {
        held.push(taken);
    }
    if held.len() == MANY {
        tally.got(format!("{MANY} handles"));
    }
    drop(held);
    if file(&mut tally, root, "f.txt", READ).is_none() {
        tally.got("a host that does not recover".to_owned());
    }
    tally.end()
}

/// Takes one thing after another; there is no way for the host to say no but
/// to stop the component.
fn without_end<T>(take: fn() -> T) -> Outcome {
    let mut tally = Tally::default();
    let held: Vec<T> = (0..MANY).map(|_| take()).collect();
    tally.got(format!("{} handles", held.len()));
    tally.end()
}

fn read_more_than_there_is(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let Some(file) = file(&mut tally, root, "f.txt", READ) else {
        return tally.end();
    };
    let whole = file.stat().map_or(0, |stat| stat.size);
    for (length, offset) in [
        (u64::MAX, 0),
        (u64::MAX, 1),
        (u64::MAX, u64::MAX),
        (1, u64::MAX),
        (u64::MAX, i64::MAX as u64),
    ] {
        if let Some((bytes, _)) = tally.may_fail(file.read(length, offset))
            && bytes.len() as u64 > whole.saturating_sub(offset)
        {
            tally.got(format!("{} bytes of {whole}", bytes.len()));
        }
    }
    tally.found(format!("no more than there is: {}", proof(&file)));
    tally.end()
}
