//! What may be done in a sequence, and how it is chosen: with handles that are
//! held, and with paths of few names, so that they meet each other often.

use wasmtime_wasi::p2::bindings::sync::filesystem::types::{DescriptorFlags, OpenFlags};

use super::choices::Choices;

const READ: DescriptorFlags = DescriptorFlags::READ;
const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// The names of temporaries: the product's own, and one of a process that died.
pub(super) const TEMPORARIES: [&str; 2] = [
    ".preopen-mcp-00000000000000000000000000000001.tmp",
    ".preopen-mcp-00000000000000000000000000000002.tmp",
];

/// A name that no file system takes.
const LONG: &str = const {
    const BYTES: [u8; 260] = {
        let mut bytes = [b'n'; 260];
        bytes[256] = b'.';
        bytes[257] = b't';
        bytes[258] = b'x';
        bytes[259] = b't';
        bytes
    };
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => "",
    }
};

/// Names that are there, that could be, and that no path has; the first ones
/// are the likely ones.
const NAMES: [&str; 28] = [
    "a.txt",
    "d",
    "new.txt",
    "e",
    "b.txt",
    "dir.txt",
    "hidden",
    "in.txt",
    "out.txt",
    "out",
    "pipe.txt",
    "plain",
    TEMPORARIES[0],
    TEMPORARIES[1],
    "up.txt",
    "A.TXT",
    "D",
    "HIDDEN",
    "new",
    ".preopen-mcp-1.tmp",
    "..",
    ".",
    "",
    "C:",
    "a\\b.txt",
    "a.txt\0",
    "é.txt",
    LONG,
];

/// Where somebody else does something: never outside and never where it is
/// hidden, so that these two must stay as they are.
const OTHERS: [&str; 12] = [
    "a.txt",
    "d",
    "new.txt",
    "e",
    "b.txt",
    "dir.txt",
    "in.txt",
    "pipe.txt",
    "plain",
    TEMPORARIES[0],
    TEMPORARIES[1],
    "é.txt",
];

/// What somebody else puts where nothing is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thing {
    File,
    Directory,
    Link(&'static str),
    Pipe,
}

/// One step. Handles are numbers, of which each stands for one that is held.
#[derive(Debug)]
pub(super) enum Operation {
    Open(usize, String, OpenFlags, DescriptorFlags),
    Drop(usize),
    Read(usize, u64, u64),
    Write(usize, Vec<u8>, u64),
    Sync(usize),
    List(usize),
    MakeDirectory(usize, String),
    RemoveDirectory(usize, String),
    Unlink(usize, String),
    Rename(usize, String, usize, String),
    Link(usize, String, usize, String),
    Stat(usize, String),
    StatOpen(usize),
    Rights(usize),
    Same(usize, usize),
    Symlink(usize, String, String),
    ReadLink(usize, String),
    SetSize(usize),
    /// Somebody else puts something where nothing is.
    Appears(String, Thing),
    /// Somebody else removes something, with all that is in it.
    Disappears(String),
    /// Somebody else moves something to where nothing is.
    Moves(String, String),
}

/// Every way to open something that is meant to work, and some that are not.
fn opening(choice: usize) -> (OpenFlags, DescriptorFlags) {
    let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    let (file, directory) = (OpenFlags::empty(), OpenFlags::DIRECTORY);
    match choice {
        0 | 1 => (file, READ),
        2..=4 => (directory, READ | MUTATE),
        5 => (directory, READ),
        6 | 7 => (exclusive, WRITE),
        8 => (exclusive, READ | WRITE),
        9 => (file, WRITE),
        10 => (file, READ | WRITE),
        11 => (exclusive, READ),
        12 => (directory, MUTATE),
        13 => (directory, READ | WRITE),
        14 => (OpenFlags::CREATE, WRITE),
        15 => (OpenFlags::TRUNCATE, WRITE),
        16 => (file, DescriptorFlags::empty()),
        17 => (OpenFlags::all(), READ),
        _ => (file, DescriptorFlags::all()),
    }
}

impl Operation {
    /// Whether the component does it.
    pub(super) fn is_a_call(&self) -> bool {
        !matches!(
            self,
            Self::Appears(..) | Self::Disappears(..) | Self::Moves(..)
        )
    }

    pub(super) fn choose(choices: &mut Choices<'_>) -> Self {
        match choices.below(32) {
            0..=7 => {
                let at = choices.below(48);
                let (flags, rights) = opening(if at < 30 { at % 11 } else { at - 29 });
                Self::Open(base(choices), path(choices), flags, rights)
            }
            8 => {
                let (flags, rights) = opening(6);
                Self::Open(base(choices), temporary(choices), flags, rights)
            }
            9 => Self::Drop(choices.below(256)),
            10 | 11 => Self::Read(latest(choices), length(choices), length(choices)),
            12 | 13 => {
                let count = choices.below(6);
                let bytes = choices.bytes(count).to_vec();
                Self::Write(latest(choices), bytes, length(choices))
            }
            14 => Self::Sync(latest(choices)),
            15 | 16 => Self::List(choices.below(256)),
            17 | 18 => Self::MakeDirectory(base(choices), path(choices)),
            19 => Self::RemoveDirectory(base(choices), path(choices)),
            20 | 21 => Self::Unlink(base(choices), path(choices)),
            22 => Self::Rename(
                base(choices),
                temporary(choices),
                base(choices),
                path(choices),
            ),
            23 => Self::Link(
                base(choices),
                temporary(choices),
                base(choices),
                path(choices),
            ),
            24 => Self::Rename(base(choices), path(choices), base(choices), path(choices)),
            25 => Self::Link(base(choices), path(choices), base(choices), path(choices)),
            26 | 27 => Self::Stat(base(choices), path(choices)),
            28 => Self::of_a_handle(choices),
            29 => Self::Appears(others_path(choices), thing(choices)),
            30 => Self::Disappears(others_path(choices)),
            _ => Self::Moves(others_path(choices), others_path(choices)),
        }
    }

    fn of_a_handle(choices: &mut Choices<'_>) -> Self {
        match choices.below(6) {
            0 => Self::StatOpen(latest(choices)),
            1 => Self::Rights(latest(choices)),
            2 => Self::Same(latest(choices), choices.below(256)),
            3 => Self::Symlink(base(choices), path(choices), path(choices)),
            4 => Self::ReadLink(base(choices), path(choices)),
            _ => Self::SetSize(latest(choices)),
        }
    }
}

/// Which of `count` handles a number stands for: from the first one, or, for
/// large numbers, from the last one.
pub(super) fn handle(number: usize, count: usize) -> usize {
    match number.checked_sub(256) {
        Some(from_last) => count - 1 - from_last % count,
        None => number % count,
    }
}

/// A handle for a path: likely the root's.
fn base(choices: &mut Choices<'_>) -> usize {
    choices.below(256).saturating_sub(160)
}

/// A handle for itself: likely the last one.
fn latest(choices: &mut Choices<'_>) -> usize {
    match choices.below(256) {
        at @ 0..128 => 256 + at % 3,
        at => at,
    }
}

/// A path as a component spells it.
fn path(choices: &mut Choices<'_>) -> String {
    let shape = choices.byte();
    let above = match shape % 8 {
        0..4 => "",
        4 | 5 => "d/",
        6 => "d/e/",
        _ => "dir.txt/",
    };
    let joined = match shape / 8 {
        0..24 => format!("{above}{}", name(choices)),
        24..28 => format!("{}/{}", name(choices), name(choices)),
        _ => format!("{above}{}/{}", name(choices), name(choices)),
    };
    match shape {
        254 => format!("/{joined}"),
        255 => format!("{joined}/"),
        _ => joined,
    }
}

fn name(choices: &mut Choices<'_>) -> &'static str {
    let at = usize::from(choices.byte());
    NAMES[match at {
        0..144 => at % 6,
        144..224 => at % 14,
        _ => at % NAMES.len(),
    }]
}

/// A path that ends in a temporary.
fn temporary(choices: &mut Choices<'_>) -> String {
    let last = TEMPORARIES[choices.below(2)];
    match choices.below(8) {
        0 => format!("{}/{last}", name(choices)),
        1 => format!("d/{last}"),
        _ => last.to_owned(),
    }
}

fn others_path(choices: &mut Choices<'_>) -> String {
    let shape = choices.byte();
    let above = [&[][..], &["d"], &["dir.txt"], &["d", "e"], &["new.txt"]];
    let mut names = above[usize::from(shape) % above.len()].to_vec();
    names.push(OTHERS[choices.below(OTHERS.len())]);
    names.join("/")
}

fn thing(choices: &mut Choices<'_>) -> Thing {
    match choices.below(6) {
        0 => Thing::Directory,
        1 => Thing::Link("a.txt"),
        2 => Thing::Link("hidden"),
        3 => Thing::Link("../outside"),
        4 => Thing::Pipe,
        _ => Thing::File,
    }
}

/// A length or an offset; the large ones do not fit the system's.
fn length(choices: &mut Choices<'_>) -> u64 {
    match choices.byte() {
        255 => u64::MAX,
        254 => 1 << 63,
        byte => u64::from(byte % 16),
    }
}
