//! Somebody who changes a part of the root, and what is beside it, while calls
//! go there: makes and removes, renames, swaps directories for links to outside
//! and inside, carries them away and back, takes rights. It follows no link
//! itself, so what is outside stays as it is unless the server changes it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fchmod, mkdirat, openat, renameat, renameat_with,
    symlinkat, unlinkat,
};
use rustix::io::Result;

use super::contested::{BESIDE, DIRECTORY, FILES, LINES, NAMES, STILL};
use super::model::{HIDDEN_CONTENT, OWN};
use super::random::Random;
use crate::harness::{MARKER, Root};

/// The directory outside that links lead to; its name may stand in no answer.
pub(super) const OUTSIDE: &str = "canary";

/// Fills the part of the root that is contested, and what lies outside.
pub(super) fn prepare(root: &Root) {
    for directory in [OUTSIDE, "canary/s", "away"] {
        fs::create_dir(root.outside(directory)).expect("a directory");
    }
    for file in [
        "canary/f0.txt",
        "canary/f1.md",
        "canary/f2.txt",
        "canary/s/canary.txt",
    ] {
        fs::write(root.outside(file), MARKER).expect("a file");
    }
    for file in ["0", "1"] {
        root.write(&format!("{STILL}/{file}"), LINES[0]);
    }
    for name in NAMES {
        fs::create_dir_all(root.at(DIRECTORY).join(name)).expect("a directory");
    }
}

/// What lies outside where links lead to, with its contents.
pub(super) fn outside(root: &Root) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut left = vec![root.outside(OUTSIDE)];
    while let Some(path) = left.pop() {
        let content = match path.is_dir() {
            true => {
                let entries = fs::read_dir(&path).expect("a directory");
                left.extend(entries.map(|entry| entry.expect("an entry").path()));
                None
            }
            false => Some(fs::read(&path).expect("a file")),
        };
        found.push((path, content));
    }
    found.sort();
    found
}

/// Somebody else, with both directories open.
pub(super) struct Adversary {
    random: Random,
    top: OwnedFd,
    directory: OwnedFd,
    away: OwnedFd,
    /// How often something was changed.
    done: u64,
}

const OPEN: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::DIRECTORY);

impl Adversary {
    pub(super) fn new(root: &Root, seed: u64) -> Self {
        let open =
            |path: PathBuf| rustix::fs::open(path, OPEN, Mode::empty()).expect("a directory");
        Self {
            random: Random::new(seed),
            top: open(root.path()),
            directory: open(root.at(DIRECTORY)),
            away: open(root.outside("away")),
            done: 0,
        }
    }

    /// Does something for each message, until nobody sends any more; the answer is how often that
    /// changed anything. Rights are left as they were.
    pub(super) fn work(mut self, turns: &Receiver<()>) -> u64 {
        while turns.recv().is_ok() {
            // What is not there just then, or in the way, is for another time.
            self.done += u64::from(self.step().is_ok());
        }
        for name in NAMES {
            if let Ok(directory) = openat(&self.directory, name, OPEN, Mode::empty()) {
                fchmod(directory, Mode::from_raw_mode(0o755)).ok();
            }
        }
        self.done
    }

    fn step(&mut self) -> Result<()> {
        match self.random.below(16) {
            0..=2 => self.write(FILES[0]),
            3 => self.write(FILES[1]),
            4 => self.inside(|directory, file, _| unlinkat(directory, file, AtFlags::empty())),
            5 => self.inside(|directory, file, random| {
                renameat(directory, file, directory, *random.pick(&FILES))
            }),
            6 => self.inside(|directory, file, random| {
                let target = match random.percent(50) {
                    true => format!("../../../outside/{OUTSIDE}/f0.txt"),
                    false => format!("../../{OWN}/f0.txt"),
                };
                symlinkat(target, directory, file)
            }),
            7 => self.inside(|directory, file, _| mkdirat(directory, file, Mode::RWXU)),
            8 => self.inside(|directory, file, _| unlinkat(directory, file, AtFlags::REMOVEDIR)),
            9 => self.hide(),
            10 => self.swap(),
            11 => self.restore(),
            12 => self.carry(),
            13 => self.rights(),
            _ => self.beside(),
        }
    }

    /// Opens one of the directories, unless a link has its name just then.
    fn open(&mut self) -> Result<OwnedFd> {
        openat(
            &self.directory,
            *self.random.pick(&NAMES),
            OPEN,
            Mode::empty(),
        )
    }

    fn inside(
        &mut self,
        change: impl FnOnce(&OwnedFd, &str, &mut Random) -> Result<()>,
    ) -> Result<()> {
        let directory = self.open()?;
        let file = *self.random.pick(&FILES);
        change(&directory, file, &mut self.random)
    }

    fn write(&mut self, file: &str) -> Result<()> {
        let directory = self.open()?;
        self.put(&directory, file, LINES[0])
    }

    /// Writes a file in place, so that it may be seen when it is empty.
    fn put(&mut self, directory: &OwnedFd, file: &str, line: &str) -> Result<()> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let flags = flags | OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = openat(directory, file, flags, Mode::from_raw_mode(0o644))?;
        let lines = 1 + self.random.below(20);
        let text = format!("{line}{}\n", self.random.below(100)).repeat(lines);
        rustix::io::write(file, text.as_bytes()).map(drop)
    }

    /// Makes, removes or takes over a name that is hidden. None gets a name that is served.
    fn hide(&mut self) -> Result<()> {
        let hidden = format!("hid-{}", self.random.below(2));
        let directory = self.open()?;
        match self.random.below(4) {
            0 => self.put(&directory, &hidden, HIDDEN_CONTENT),
            1 => {
                // Only to a name that nothing has: what is hidden keeps its content.
                let file = *self.random.pick(&FILES);
                renameat_with(
                    &directory,
                    file,
                    &directory,
                    &hidden,
                    RenameFlags::NOREPLACE,
                )
            }
            _ => unlinkat(&directory, &hidden, AtFlags::empty())
                .or_else(|_| unlinkat(&directory, &hidden, AtFlags::REMOVEDIR)),
        }
    }

    /// Swaps two of the names, of directories or links.
    fn swap(&mut self) -> Result<()> {
        let (one, other) = (*self.random.pick(&NAMES), *self.random.pick(&NAMES));
        let directory = &self.directory;
        renameat_with(directory, one, directory, other, RenameFlags::EXCHANGE)
    }

    /// Puts a directory in place of a link or nothing, or a link in place of an empty directory.
    fn restore(&mut self) -> Result<()> {
        let name = *self.random.pick(&NAMES);
        if self.random.percent(60) {
            unlinkat(&self.directory, name, AtFlags::empty()).ok();
            return mkdirat(&self.directory, name, Mode::from_raw_mode(0o755));
        }
        unlinkat(&self.directory, name, AtFlags::REMOVEDIR).ok();
        let target = match self.random.percent(50) {
            true => format!("../../outside/{OUTSIDE}"),
            false => format!("../{OWN}"),
        };
        symlinkat(target, &self.directory, name)
    }

    /// Carries a name out of the root, and back.
    fn carry(&mut self) -> Result<()> {
        let name = *self.random.pick(&NAMES);
        let out = renameat(&self.directory, name, &self.away, name);
        let back = renameat_with(
            &self.away,
            name,
            &self.directory,
            name,
            RenameFlags::NOREPLACE,
        );
        // What cannot come back, as its name was made anew, waits for another time.
        out.and(back)
    }

    /// Never so few that its owner could not give them back.
    fn rights(&mut self) -> Result<()> {
        let modes = [0o500, 0o400, 0o755, 0o755];
        let mode = Mode::from_raw_mode(*self.random.pick(&modes));
        fchmod(self.open()?, mode)
    }

    /// Changes names at the top of the root, among those that nobody else touches.
    fn beside(&mut self) -> Result<()> {
        let name = format!("{BESIDE}{}", self.random.below(4));
        let top = &self.top;
        match self.random.below(6) {
            0 => symlinkat(format!("../outside/{OUTSIDE}/f0.txt"), top, &name),
            1 => symlinkat(format!("../outside/{OUTSIDE}"), top, &name),
            2 => mkdirat(top, &name, Mode::from_raw_mode(0o755)),
            3 => unlinkat(top, &name, AtFlags::empty())
                .or_else(|_| unlinkat(top, &name, AtFlags::REMOVEDIR)),
            4 => renameat(top, &name, top, format!("{BESIDE}{}", self.random.below(4))),
            _ => {
                let top = top.try_clone().map_err(|_| rustix::io::Errno::MFILE)?;
                self.put(&top, &name, LINES[0])
            }
        }
    }
}

/// Puts a link among the paths that only the client changes.
pub(super) fn link(root: &Root, path: &str) {
    symlink(root.outside(OUTSIDE), root.at(path)).expect("a link");
}
