//! Ways to more by the flags of an open: every combination, on what may be
//! opened and on what may not, and bits that mean nothing.

use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, OpenFlags, PathFlags,
};

use crate::attempts::Attempt;
use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::reach::{FOLLOW, GRAFFITI, MUTATE, NEW, READ, WRITE, proof};
use crate::tally::Tally;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "every-flag-on-a-file",
        what: "open a served file with every combination of flags",
        run: |root| every(root, &["f.txt"], file_gain),
    },
    Attempt {
        name: "every-flag-on-a-directory",
        what: "open a served directory with every combination of flags",
        run: |root| every(root, &["dir", "."], directory_gain),
    },
    Attempt {
        name: "every-flag-on-what-is-not-served",
        what: "open what is outside, linked or hidden with every combination of flags",
        run: |root| {
            every(root, &OUT_OF_BOUNDS, |_, _, _, path, file| {
                Some(format!("opened {path:?}: {}", proof(file)))
            })
        },
    },
    Attempt {
        name: "every-flag-on-a-missing-file",
        what: "make files where none may be, with every combination of flags",
        run: |root| {
            every(root, &MISSING, |_, _, _, path, file| {
                let _ = file.write(GRAFFITI, 0);
                let _ = file.sync();
                Some(format!("made {path:?}"))
            })
        },
    },
    Attempt {
        name: "flags-that-do-not-exist",
        what: "set every bit of the flags, also those without a meaning",
        run: flags_that_do_not_exist,
    },
];

const OUT_OF_BOUNDS: [&str; 8] = [
    "link-out.txt",
    "link-dir.txt",
    "link.txt",
    "../outside/secret.txt",
    "hidden/f.txt",
    "not.included",
    "pipe.txt",
    "/etc/passwd",
];

const MISSING: [&str; 5] = [
    "../outside/new.txt",
    "hidden/new.txt",
    "new.included",
    "link-none.txt",
    "link-dir.txt/new.txt",
];

/// What an open that succeeded gained beyond the rules, if anything.
type Gain = fn(&Descriptor, OpenFlags, DescriptorFlags, &str, &Descriptor) -> Option<String>;

/// Opens each path with every combination of flags there is.
fn every(root: &Descriptor, paths: &[&str], gain: Gain) -> Outcome {
    let mut tally = Tally::default();
    for path in paths {
        for follow in FOLLOW {
            for open in 0..=OpenFlags::all().bits() {
                for rights in 0..=DescriptorFlags::all().bits() {
                    let open = OpenFlags::from_bits_truncate(open);
                    let rights = DescriptorFlags::from_bits_truncate(rights);
                    let opened = root.open_at(follow, path, open, rights);
                    if let Some(opened) = tally.may_fail(opened)
                        && let Some(gain) = gain(root, open, rights, path, &opened)
                    {
                        tally.got(gain);
                    }
                }
            }
        }
    }
    tally.end()
}

/// A served file may be read and, in a root that can be changed, written.
fn file_gain(
    root: &Descriptor,
    open: OpenFlags,
    asked: DescriptorFlags,
    path: &str,
    file: &Descriptor,
) -> Option<String> {
    let kind = file.get_type();
    let has = file.get_flags().unwrap_or(DescriptorFlags::all());
    let writable = root.get_flags().is_ok_and(|has| has.contains(MUTATE));
    let beyond = open.intersects(OpenFlags::DIRECTORY | OpenFlags::TRUNCATE | NEW)
        || kind != Ok(DescriptorType::RegularFile)
        || !asked.contains(has)
        || has.contains(MUTATE)
        || (has.contains(WRITE) && !writable);
    beyond.then(|| format!("{path:?} as {kind:?} by {open:?} {asked:?}, with {has:?}"))
}

/// A served directory may be entered and, in a root that can be changed, changed.
fn directory_gain(
    root: &Descriptor,
    open: OpenFlags,
    asked: DescriptorFlags,
    path: &str,
    directory: &Descriptor,
) -> Option<String> {
    let kind = directory.get_type();
    let has = directory.get_flags().unwrap_or(DescriptorFlags::all());
    let writable = root.get_flags().is_ok_and(|has| has.contains(MUTATE));
    let beyond = open.intersects(OpenFlags::TRUNCATE | NEW)
        || kind != Ok(DescriptorType::Directory)
        || !asked.contains(has)
        || has.contains(WRITE)
        || (has.contains(MUTATE) && !writable);
    beyond.then(|| format!("{path:?} as {kind:?} by {open:?} {asked:?}, with {has:?}"))
}

fn flags_that_do_not_exist(root: &Descriptor) -> Outcome {
    let mut tally = Tally::default();
    let path_flags = PathFlags::from_bits_retain(0xff);
    for path in [
        "f.txt",
        "link-out.txt",
        "../outside/secret.txt",
        "hidden/f.txt",
    ] {
        for open in [0xf0, 0xff] {
            for rights in [READ.bits() | 0xc0, 0xff] {
                let open = OpenFlags::from_bits_retain(open);
                let rights = DescriptorFlags::from_bits_retain(rights);
                let opened = root.open_at(path_flags, path, open, rights);
                // Bits without a meaning may stay; they must not become some with one.
                if let Some(file) = tally.may_fail(opened) {
                    let has = file.get_flags().map(|has| has & DescriptorFlags::all());
                    if path != "f.txt" || has != Ok(READ) {
                        tally.got(format!("{path:?} with {has:?}: {}", proof(&file)));
                    }
                }
            }
        }
    }
    tally.end()
}
