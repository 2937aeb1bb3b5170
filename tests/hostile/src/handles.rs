//! Numbers instead of handles, and pointers that point nowhere. Typed bindings
//! do not let either happen, so this module goes behind their back: it gives
//! them numbers of its own, and calls the imports with whatever it likes.

use std::mem;

use wasip2::cli::stdout::get_stdout;
use wasip2::filesystem::types::{Descriptor, DirectoryEntryStream, OpenFlags, PathFlags};
use wasip2::io::streams::{InputStream, OutputStream};
use wasip2::random::random::get_random_u64;

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{READ, file, look, proof};
use crate::tally::Tally;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "handle-after-its-end",
        what: "read through a descriptor that was given back",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(number) = number_of_a_file(&mut tally, root) {
                use_as_descriptor(&mut tally, number);
            }
            tally.end()
        },
    },
    Attempt {
        name: "handle-given-back-twice",
        what: "give one descriptor back twice",
        run: |root| {
            let mut tally = Tally::default();
            if let Some(number) = number_of_a_file(&mut tally, root) {
                drop(forged(number));
                tally.got("gave one descriptor back twice".to_owned());
            }
            tally.end()
        },
    },
    Attempt {
        name: "handle-of-something-else-since",
        what: "use the number of a descriptor that means another one by now",
        run: handle_of_something_else_since,
    },
    Attempt {
        name: "handle-guessed",
        what: "use a number that never was a handle",
        run: |_| {
            let mut tally = Tally::default();
            use_as_descriptor(&mut tally, 0x00ff_ffff);
            tally.end()
        },
    },
    Attempt {
        name: "handle-of-a-small-number",
        what: "use the numbers that are descriptors in other systems: 0, 1, 2, 3",
        run: |root| {
            let mut tally = Tally::default();
            // The only handle that is given out now is the root's own.
            for number in (0..=3).filter(|number| *number != root.handle()) {
                use_as_descriptor(&mut tally, number);
            }
            tally.end()
        },
    },
    Attempt {
        name: "handle-of-a-large-number",
        what: "use the largest numbers there are as handles",
        run: |_| {
            let mut tally = Tally::default();
            for number in [u32::MAX - 1, i32::MAX as u32, 1 << 31] {
                use_as_descriptor(&mut tally, number);
            }
            tally.end()
        },
    },
    Attempt {
        name: "handle-at-random",
        what: "use random numbers as handles",
        run: |_| {
            let mut tally = Tally::default();
            for _ in 0..1000 {
                // A handle table begins at one, so these could well be in it.
                use_as_descriptor(&mut tally, 4 + (get_random_u64() % 60) as u32);
            }
            tally.end()
        },
    },
    Attempt {
        name: "stream-as-a-descriptor",
        what: "use the handle of standard output as a descriptor",
        run: |_| {
            let mut tally = Tally::default();
            let stream = get_stdout();
            use_as_descriptor(&mut tally, stream.handle());
            tally.end()
        },
    },
    Attempt {
        name: "descriptor-as-an-input-stream",
        what: "read from the root as if it were a stream",
        run: |root| {
            let mut tally = Tally::default();
            // SAFETY: a number is no memory; the host is to refuse it.
            let stream = unsafe { InputStream::from_handle(root.handle()) };
            match stream.read(64) {
                Ok(bytes) => tally.got(format!("{bytes:?}")),
                Err(_) => tally.refused("stream closed"),
            }
            mem::forget(stream);
            tally.end()
        },
    },
    Attempt {
        name: "descriptor-as-an-output-stream",
        what: "write to the root as if it were a stream",
        run: |root| {
            let mut tally = Tally::default();
            // SAFETY: a number is no memory; the host is to refuse it.
            let stream = unsafe { OutputStream::from_handle(root.handle()) };
            match stream.check_write() {
                Ok(room) => tally.got(format!("room for {room} bytes")),
                Err(_) => tally.refused("stream closed"),
            }
            mem::forget(stream);
            tally.end()
        },
    },
    Attempt {
        name: "descriptor-as-a-listing",
        what: "take entries from the root without beginning to list it",
        run: |root| {
            let mut tally = Tally::default();
            // SAFETY: a number is no memory; the host is to refuse it.
            let listing = unsafe { DirectoryEntryStream::from_handle(root.handle()) };
            tally.must_fail("an entry", listing.read_directory_entry());
            mem::forget(listing);
            tally.end()
        },
    },
    Attempt {
        name: "path-outside-of-memory",
        what: "name a path that begins where no memory is",
        run: |root| raw_open(root, usize::MAX - 64, 32, None),
    },
    Attempt {
        name: "path-longer-than-memory",
        what: "name a path of four gigabytes",
        run: |root| raw_open(root, 1024, usize::MAX - 1, None),
    },
    Attempt {
        name: "path-that-is-no-text",
        what: "name a path that is no UTF-8",
        run: |root| {
            let bytes = b"dir/\xff\xfe\xc0\xae\xc0\xae/f.txt";
            raw_open(root, bytes.as_ptr() as usize, bytes.len(), None)
        },
    },
    Attempt {
        name: "answer-outside-of-memory",
        what: "let the host put its answer where no memory is",
        run: |root| {
            let path = "f.txt";
            let nowhere = usize::MAX - 7;
            raw_open(root, path.as_ptr() as usize, path.len(), Some(nowhere))
        },
    },
    Attempt {
        name: "answer-at-an-odd-place",
        what: "let the host put its answer where it does not fit",
        run: |root| {
            let path = "f.txt";
            let mut room = [0_u64; 4];
            let odd = room.as_mut_ptr() as usize + 1;
            raw_open(root, path.as_ptr() as usize, path.len(), Some(odd))
        },
    },
];

/// A descriptor by its number, whatever that is the number of.
fn forged(number: u32) -> Descriptor {
    // SAFETY: a number is no memory; the host is to refuse it.
    unsafe { Descriptor::from_handle(number) }
}

/// What the number of a file was while it was open.
fn number_of_a_file(tally: &mut Tally, root: &Descriptor) -> Option<u32> {
    file(tally, root, "f.txt", READ).map(|file| file.handle())
}

/// Tries what a descriptor is good for with a number that is none.
fn use_as_descriptor(tally: &mut Tally, number: u32) {
    let forged = forged(number);
    if let Some(flags) = tally.may_fail(forged.get_flags()) {
        tally.got(format!("a descriptor by number {number}, with {flags:?}"));
    }
    if let Some((bytes, _)) = tally.may_fail(forged.read(64, 0)) {
        tally.got(format!("{:?}", String::from_utf8_lossy(&bytes)));
    }
    look(tally, &forged, "f.txt");
    look(tally, &forged, "secret.txt");
    mem::forget(forged);
}

fn handle_of_something_else_since(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let Some(old) = number_of_a_file(&mut tally, root) else {
        return tally.end();
    };
    let Some(new) = file(&mut tally, root, "dir/f.txt", READ) else {
        return tally.end();
    };
    if new.handle() == old {
        let stale = forged(old);
        if !stale.is_same_object(&new) {
            tally.got(format!("what is not open any more: {}", proof(&stale)));
        }
        mem::forget(stale);
    }
    tally.found("only what is open under that number now");
    tally.end()
}

/// Calls `open-at` with a path at `start` of `length` bytes, and with room for
/// the answer at `answer`; whatever stands there.
#[cfg(target_arch = "wasm32")]
fn raw_open(root: &Descriptor, start: usize, length: usize, answer: Option<usize>) -> Outcome {
    #[link(wasm_import_module = "wasi:filesystem/types@0.2.12")]
    unsafe extern "C" {
        #[link_name = "[method]descriptor.open-at"]
        fn open_at(
            directory: i32,
            follow: i32,
            start: usize,
            length: usize,
            open: i32,
            rights: i32,
            answer: usize,
        );
    }

    let mut room = [u32::MAX; 2];
    let answer = answer.unwrap_or(room.as_mut_ptr() as usize);
    // SAFETY: the host is to stop the component before it reads or writes at
    // an address it was given wrongly; were it not to, this is the instance
    // that would break, and it ends here.
    unsafe {
        open_at(
            root.handle() as i32,
            i32::from(PathFlags::empty().bits()),
            start,
            length,
            i32::from(OpenFlags::empty().bits()),
            i32::from(READ.bits()),
            answer,
        );
    }
    let room = std::hint::black_box(room);
    let mut tally = Tally::default();
    if room[0] & 0xff == 1 {
        tally.refused("an error code");
    } else {
        tally.got("a host that does not look at pointers".to_owned());
    }
    tally.end()
}

#[cfg(not(target_arch = "wasm32"))]
fn raw_open(_: &Descriptor, _: usize, _: usize, _: Option<usize>) -> Outcome {
    let _ = (PathFlags::empty(), OpenFlags::empty());
    let mut tally = Tally::default();
    tally.refused("not a component");
    tally.end()
}
