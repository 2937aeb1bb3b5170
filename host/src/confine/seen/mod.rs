//! What an instance has seen of the files, so that the host can say later
//! whether all of it is still so: the directories it listed, the files it
//! looked at, and in which state each was. It sees what passes through the
//! instance's descriptors and knows nothing of why.

mod stamp;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use self::tests::clock_ahead;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use self::stamp::Stamp;
pub(crate) use self::system::Surroundings;
#[cfg(target_os = "linux")]
pub(crate) use self::system::WATCH_GROUP;
use self::system::Watch;
use super::descriptor::kind;
use super::resolve::{self, Place};
use super::system::{Found, HOLD};

/// The most directories and files that are remembered of an instance; looking
/// at more of them again would cost what doing the work again costs.
const MAX_THINGS: usize = 128 << 10;

/// How often all directories are looked at again before they are watched
/// instead, which costs once as much as ten looks, and nothing from then on.
const LOOKS: u32 = 8;

/// What one instance has seen.
#[derive(Debug)]
pub(crate) struct Seen {
    /// By path from the root; the root's is empty.
    things: BTreeMap<Box<str>, Thing>,
    /// The path that was looked at last and the stamp there, one of the things:
    /// most often it is looked at again at once.
    latest: (String, Option<Stamp>),
    /// Nothing was seen that cannot be looked at again, or was changing.
    certain: bool,
    /// The one that all directories are on.
    disk: Option<(u32, u32)>,
    looks: u32,
    /// There is something among the things that can be watched.
    has_directories: bool,
    watch: Option<Watch>,
    /// How many of the things no watch tells of.
    untold: usize,
    /// Something was seen since that was found out.
    is_news: bool,
}

/// Something at a path.
#[derive(Debug)]
struct Thing {
    stamp: Stamp,
    is_directory: bool,
    /// The watch tells when it changes.
    watched: bool,
    /// It has to be looked at again: the watch does not tell of it, or not when
    /// its path leads elsewhere.
    untold: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            things: BTreeMap::new(),
            latest: (String::new(), None),
            certain: true,
            disk: None,
            looks: 0,
            has_directories: false,
            watch: None,
            untold: 0,
            is_news: false,
        }
    }
}

impl Seen {
    /// Takes note that the directory `path` is being listed, and of its state
    /// just before.
    pub(super) fn list(&mut self, path: &str, found: &Found) {
        // A change right behind this one could leave the same times, and other
        // disks may have other habits.
        let disk = *self.disk.get_or_insert(found.device);
        if !stamp::is_settled(found) || disk != found.device {
            self.doubt();
        }
        self.look(path, found);
    }

    /// Whether anything is still taken note of.
    pub(super) const fn is_certain(&self) -> bool {
        self.certain
    }

    /// Whether the state of what is at `path` is known.
    pub(super) fn knows(&self, path: &str) -> bool {
        let (latest, stamp) = &self.latest;
        stamp.is_some() && latest == path || self.things.contains_key(path)
    }

    /// Takes note of something that cannot be looked at again, or that changed
    /// something: what this instance has seen is never called unchanged.
    pub(super) fn doubt(&mut self) {
        self.certain = false;
        self.things.clear();
        self.latest.1 = None;
        self.watch = None;
    }

    /// Takes note of the state of what is at `path`.
    pub(super) fn look(&mut self, path: &str, found: &Found) {
        if !self.certain {
            return;
        }
        let stamp = Stamp::of(found);
        let (latest, before) = &mut self.latest;
        if *before == Some(stamp) && latest == path {
            return;
        }
        // What a walk comes to is mostly behind all that it came to before.
        let last = self.things.last_key_value();
        let is_new = last.is_none_or(|(last, _)| **last < *path);
        let known = if is_new { None } else { self.things.get(path) };
        let same = match known {
            Some(thing) => thing.stamp == stamp,
            None if self.things.len() >= MAX_THINGS => false,
            None => {
                let is_directory = kind(found) == FileType::Directory;
                self.has_directories |= is_directory;
                let thing = Thing {
                    stamp,
                    is_directory,
                    watched: false,
                    untold: true,
                };
                self.things.insert(path.into(), thing);
                self.is_news = true;
                true
            }
        };
        if same {
            path.clone_into(&mut self.latest.0);
            self.latest.1 = Some(stamp);
        } else {
            self.doubt();
        }
    }

    /// Whether it can be told later if all of this is unchanged. `around` is
    /// what is known of where `root` stands.
    pub(crate) fn can_be_held(&mut self, root: &OwnedFd, around: &Surroundings) -> bool {
        if !self.certain || !around.is_telling() {
            return false;
        }
        self.looks += 1;
        if self.looks > LOOKS && self.has_directories && self.watch.is_none() {
            self.watch = Watch::new(around);
            self.is_news = true;
        }
        if !self.is_news {
            return true;
        }
        if let Some(watch) = &self.watch {
            match extend(watch, &mut self.things, root) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(NoRoom) => {
                    // Then they go on being looked at.
                    self.watch = None;
                    self.looks = 0;
                    let things = self.things.values_mut();
                    things.for_each(|thing| thing.watched = false);
                }
            }
        }
        self.untold = count_untold(&mut self.things);
        self.is_news = false;
        true
    }

    /// Whether nothing of it has changed, and every path still leads where it
    /// led.
    pub(crate) fn is_unchanged(&self, root: &OwnedFd, around: &Surroundings) -> bool {
        if !self.certain
            || self
                .watch
                .as_ref()
                .is_some_and(|watch| !watch.is_silent(around))
        {
            return false;
        }
        if self.untold == 0 {
            return true;
        }
        let mut parent = Parent::default();
        let mut untold = self.things.iter().filter(|(_, thing)| thing.untold);
        untold.all(|(path, thing)| {
            let Ok(found) = parent.stat(root, path) else {
                return false;
            };
            let stamp = Stamp::of(&found);
            match thing.watched {
                true => stamp.is_of_the_same(&thing.stamp),
                false => stamp == thing.stamp,
            }
        })
    }
}

/// There can be no more watches.
struct NoRoom;

/// Watches the directories among `things` that are not watched yet; whether
/// each was still what it was as its watch began. Files are not watched: not
/// every way to change one is told.
fn extend(
    watch: &Watch,
    things: &mut BTreeMap<Box<str>, Thing>,
    root: &OwnedFd,
) -> Result<bool, NoRoom> {
    for (path, thing) in things.iter_mut().filter(|(_, thing)| thing.is_directory) {
        if thing.watched {
            continue;
        }
        let path = if path.is_empty() { "." } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let Ok(directory) = resolve::open(root, path, flags, Mode::empty()) else {
            return Ok(false);
        };
        if !watch.add(directory.as_fd()) {
            return Err(NoRoom);
        }
        thing.watched = true;
        if resolve::stat(&directory).map(|found| Stamp::of(&found)) != Ok(thing.stamp) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds out which things no watch tells of, and how many there are.
fn count_untold(things: &mut BTreeMap<Box<str>, Thing>) -> usize {
    let watched: BTreeSet<Box<str>> = things
        .iter()
        .filter(|(_, thing)| thing.watched)
        .map(|(path, _)| path.clone())
        .collect();
    let mut count = 0;
    for (path, thing) in things {
        // The watch on the directory it stands in tells when the path leads elsewhere.
        let is_held = path.is_empty() || watched.contains(parent_of(path));
        thing.untold = !(thing.watched && is_held);
        count += usize::from(thing.untold);
    }
    count
}

fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The directory of the path that was looked at last: in their order most
/// paths share it with the one before.
#[derive(Default)]
struct Parent {
    path: String,
    directory: Option<OwnedFd>,
}

impl Parent {
    fn stat(&mut self, root: &OwnedFd, path: &str) -> Result<Found, Errno> {
        if path.is_empty() {
            return resolve::stat(root);
        }
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Place::named(root.as_fd(), path).stat();
        };
        if self.directory.is_none() || self.path != parent {
            let flags = HOLD | OFlags::DIRECTORY;
            self.directory = Some(resolve::open(root, parent, flags, Mode::empty())?);
            parent.clone_into(&mut self.path);
        }
        let directory = self.directory.as_ref().unwrap_or(root);
        Place::named(directory.as_fd(), name).stat()
    }
}
