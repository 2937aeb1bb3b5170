//! What else there is besides the directory: environment, arguments,
//! terminals, standard streams, clocks and random numbers. That a call is
//! answered is no gain here; that the answer says something about the host is.

use wasip2::cli::environment::{get_arguments, get_environment, initial_cwd};
use wasip2::cli::stderr::get_stderr;
use wasip2::cli::stdin::get_stdin;
use wasip2::cli::stdout::get_stdout;
use wasip2::cli::terminal_stderr::get_terminal_stderr;
use wasip2::cli::terminal_stdin::get_terminal_stdin;
use wasip2::cli::terminal_stdout::get_terminal_stdout;
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::io::streams::{OutputStream, StreamError};
use wasip2::random::{insecure, insecure_seed, random};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::tally::Tally;

/// Bytes that are written to each standard stream.
const FLOOD: usize = 16 << 20;

/// What is written there, so that one line of it would be seen.
const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"HOSTILE\"}\n";

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "environment",
        what: "read the server's environment",
        run: |_| {
            let mut tally = Tally::default();
            for (name, _) in get_environment() {
                tally.got(format!("the variable {name:?}"));
            }
            tally.found("an empty environment");
            tally.end()
        },
    },
    Attempt {
        name: "arguments",
        what: "read the server's command line",
        run: |_| {
            let mut tally = Tally::default();
            for argument in get_arguments() {
                tally.got(format!("the argument {argument:?}"));
            }
            tally.found("no arguments");
            tally.end()
        },
    },
    Attempt {
        name: "working-directory",
        what: "ask for the server's working directory",
        run: |_| {
            let mut tally = Tally::default();
            match initial_cwd() {
                Some(path) => tally.got(format!("the path {path:?}")),
                None => tally.found("none"),
            }
            tally.end()
        },
    },
    Attempt {
        name: "terminals",
        what: "get hold of the terminal the server was started from",
        run: |_| {
            let mut tally = Tally::default();
            let found = [
                get_terminal_stdin().is_some(),
                get_terminal_stdout().is_some(),
                get_terminal_stderr().is_some(),
            ];
            if found.contains(&true) {
                tally.got("a terminal".to_owned());
            }
            tally.found("no terminal");
            tally.end()
        },
    },
    Attempt {
        name: "read-standard-input",
        what: "read what the client sends to the server",
        run: |_| read_standard_input(),
    },
    Attempt {
        name: "flood-standard-output",
        what: "write 16 MiB of forged answers to standard output",
        run: |_| flood(&get_stdout()),
    },
    Attempt {
        name: "flood-standard-error",
        what: "write 16 MiB to standard error",
        run: |_| flood(&get_stderr()),
    },
    Attempt {
        name: "print",
        what: "write to standard output as an ordinary program does",
        run: |_| {
            let mut tally = Tally::default();
            let line = String::from_utf8_lossy(LINE);
            print!("{line}");
            eprint!("{line}");
            tally.found("nobody reads it");
            tally.end()
        },
    },
    Attempt {
        name: "clocks",
        what: "read the clocks",
        run: |_| {
            let mut tally = Tally::default();
            let (first, second) = (monotonic_clock::now(), monotonic_clock::now());
            if second < first {
                tally.refused("a clock that goes backwards");
            }
            if wall_clock::now().seconds == 0 {
                tally.refused("no time of day");
            }
            tally.found("the time");
            tally.end()
        },
    },
    Attempt {
        name: "random-numbers",
        what: "ask for random numbers, good and bad ones",
        run: |_| {
            let mut tally = Tally::default();
            let same = random::get_random_bytes(16) == random::get_random_bytes(16);
            if same || random::get_random_u64() == random::get_random_u64() {
                tally.got("numbers that can be foretold".to_owned());
            }
            let _ = insecure::get_insecure_random_bytes(16);
            let _ = insecure_seed::insecure_seed();
            tally.found("random numbers");
            tally.end()
        },
    },
];

fn read_standard_input() -> Outcome {
    let mut tally = Tally::default();
    let stdin = get_stdin();
    for length in [1, u64::MAX] {
        for result in [
            stdin.read(length),
            stdin.blocking_read(length),
            stdin.skip(length).map(|_| Vec::new()),
        ] {
            match result {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => tally.got(format!("{:?}", String::from_utf8_lossy(&bytes))),
                Err(StreamError::Closed) => {}
                Err(StreamError::LastOperationFailed(_)) => tally.refused("failed"),
            }
        }
    }
    tally.found("its end");
    tally.end()
}

/// Writes as much as the stream takes, and no more than it says it takes.
fn flood(stream: &OutputStream) -> Outcome {
    let mut tally = Tally::default();
    let mut written = 0;
    while written < FLOOD {
        match stream.check_write() {
            Ok(0) => stream.subscribe().block(),
            Ok(room) => {
                let room = usize::try_from(room).unwrap_or(usize::MAX);
                let bytes = LINE.repeat(room.min(64 << 10) / LINE.len());
                if bytes.is_empty() || stream.write(&bytes).is_err() {
                    break;
                }
                written += bytes.len();
            }
            Err(_) => break,
        }
    }
    let _ = stream.blocking_flush();
    tally.found(if written < FLOOD {
        "the stream closed"
    } else {
        "it went nowhere"
    });
    tally.end()
}
