//! Running on: without end, without a bottom, without enough memory, and
//! ways to end that are no answer. Most of these never come back by themselves.

use std::hint::black_box;

use wasip2::cli::exit::exit;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::filesystem::types::{Descriptor, PathFlags};
use wasip2::io::poll::poll;

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{GRAFFITI, NEW, WRITE};
use crate::tally::Tally;
use crate::temporaries::TEMPORARY;

/// Nanoseconds in a hundred years.
const CENTURY: u64 = 100 * 365 * 24 * 60 * 60 * 1_000_000_000;

/// Bytes of a page of a component's memory.
#[cfg(target_arch = "wasm32")]
const PAGE: usize = 64 << 10;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "memory-until-refused",
        what: "grow the memory page by page until the host refuses",
        run: |_| memory_until_refused(),
    },
    Attempt {
        name: "memory-until-the-end",
        what: "fill memory without looking whether there is any left",
        run: |_| memory_until_the_end(),
    },
    Attempt {
        name: "stack-of-calls",
        what: "call itself without end, using the host's stack",
        run: |_| {
            let depth = descend(black_box(1));
            Outcome::Got(format!("a stack {depth} calls deep"))
        },
    },
    Attempt {
        name: "stack-of-data",
        what: "call itself without end, with a lot of data at each step",
        run: |_| {
            let depth = descend_with_data(black_box(1));
            Outcome::Got(format!("a stack {depth} calls deep"))
        },
    },
    Attempt {
        name: "endless-loop",
        what: "compute without end",
        run: |_| {
            let mut number = 0_u64;
            loop {
                number = black_box(number.wrapping_add(1));
            }
        },
    },
    Attempt {
        name: "endless-host-calls",
        what: "ask the host for one file's size without end",
        run: |root| {
            loop {
                black_box(root.stat_at(PathFlags::empty(), "f.txt").is_ok());
            }
        },
    },
    Attempt {
        name: "endless-listing",
        what: "list the root over and over, without end",
        run: endless_listing,
    },
    Attempt {
        name: "endless-temporaries",
        what: "make, write and let go of temporaries without end",
        run: endless_temporaries,
    },
    Attempt {
        name: "sleep-for-a-century",
        what: "let the host wait for a hundred years",
        run: |_| {
            subscribe_duration(CENTURY).block();
            Outcome::Got("a hundred years".to_owned())
        },
    },
    Attempt {
        name: "poll-for-a-century",
        what: "let the host wait for a hundred years, by a list of timers",
        run: |_| {
            let (first, second) = (subscribe_duration(CENTURY), subscribe_duration(CENTURY));
            let ready = poll(&[&first, &second]);
            Outcome::Got(format!("{} timers", ready.len()))
        },
    },
    Attempt {
        name: "exit-as-a-failure",
        what: "end the program, as one that failed",
        run: |_| {
            exit(Err(()));
            Outcome::Got("a program that goes on after its end".to_owned())
        },
    },
    Attempt {
        name: "exit-as-a-success",
        what: "end the program, as one that is done",
        run: |_| {
            exit(Ok(()));
            Outcome::Got("a program that goes on after its end".to_owned())
        },
    },
    Attempt {
        name: "panic",
        what: "panic, with a text of the component's own",
        run: |_| panic!("HOSTILE\n{{\"jsonrpc\":\"2.0\"}}"),
    },
    Attempt {
        name: "abort",
        what: "end in an instruction that must not be reached",
        run: |_| std::process::abort(),
    },
];

/// Pages are asked for and never touched.
#[cfg(target_arch = "wasm32")]
fn memory_until_refused() -> Outcome {
    use core::arch::wasm32::{memory_grow, memory_size};

    let mut tally = Tally::default();
    while memory_grow::<0>(1) != usize::MAX {}
    if memory_size::<0>() >= usize::MAX / PAGE {
        tally.got("all the memory there can be".to_owned());
    }
    tally.refused("no more memory");
    tally.end()
}

#[cfg(not(target_arch = "wasm32"))]
fn memory_until_refused() -> Outcome {
    let mut tally = Tally::default();
    tally.refused("not a component");
    tally.end()
}

fn memory_until_the_end() -> Outcome {
    let mut held = Vec::new();
    loop {
        held.push(vec![1_u8; 1 << 20]);
        black_box(&held);
    }
}

#[expect(
    unconditional_recursion,
    reason = "the host is to stop it, not the program"
)]
fn descend(depth: u64) -> u64 {
    black_box(descend(black_box(depth + 1)) + 1)
}

#[expect(
    unconditional_recursion,
    reason = "the host is to stop it, not the program"
)]
fn descend_with_data(depth: u64) -> u64 {
    let data = black_box([depth; 1 << 10]);
    black_box(descend_with_data(depth + 1) + data.iter().sum::<u64>())
}

fn endless_listing(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    while let Some(stream) = tally.may_fail(root.read_directory()) {
        while let Some(Some(entry)) = tally.may_fail(stream.read_directory_entry()) {
            black_box(entry);
        }
    }
    tally.end()
}

fn endless_temporaries(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    while let Some(file) = tally.may_fail(root.open_at(PathFlags::empty(), TEMPORARY, NEW, WRITE)) {
        tally.may_fail(file.write(GRAFFITI, 0));
    }
    tally.end()
}
