//! A file in the making. However its call ends, failed or stopped half-way,
//! nothing is left of it; and of those who replace files in one directory, in
//! whatever process, one at a time does. It knows no handle and no rights.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, RawMode};
use rustix::io::Errno;

use super::descriptor::identity;
use super::resolve::{self, Place};
use super::system::{self, Found};
use super::temporaries::{self, is_temporary};
use super::{Confine, NewFile};

/// How long a write waits for another one in the same directory, and how long
/// between two looks. A write takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// The bits of a mode that say who may do what.
pub(super) const MODE: RawMode = 0o7777;

/// A file that is not complete. Dropped, it is removed.
#[derive(Debug)]
pub(super) struct Unfinished {
    made: Arc<Made>,
    base: Arc<OwnedFd>,
    /// The lock on its directory, held as long as it is unfinished.
    turn: Option<Arc<Lock>>,
}

/// A file that was made.
#[derive(Debug)]
pub(super) struct Made {
    file: Arc<OwnedFd>,
    /// Where it stands below the directory that it was made in.
    name: String,
    /// What it was when it was made, if that is known, and still what it is but
    /// for what was written.
    found: Option<Found>,
    changed: AtomicBool,
    /// It is complete, or no longer stands there.
    stays: AtomicBool,
}

impl Made {
    /// What it is written through.
    pub(super) const fn file(&self) -> &Arc<OwnedFd> {
        &self.file
    }

    /// Whose it is, and its mode.
    pub(super) fn found(&self) -> Result<Found, Errno> {
        match self.found {
            Some(found) if !self.changed.load(Ordering::Relaxed) => Ok(found),
            _ => resolve::stat(&*self.file),
        }
    }

    /// Takes note that its mode, owner or group may be another one from here on.
    pub(super) fn changes(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// It is complete, and stays.
    pub(super) fn stays(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    fn is_staying(&self) -> bool {
        self.stays.load(Ordering::Relaxed)
    }
}

impl Unfinished {
    /// What it is written through.
    pub(super) fn file(&self) -> &Arc<OwnedFd> {
        self.made.file()
    }

    /// It is complete, and stays.
    pub(super) fn finish(self) {
        self.made.stays();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.made.is_staying() {
            return;
        }
        let name = &self.made.name;
        let place = match (Place::of(self.base.as_fd(), name), &self.turn) {
            // No descriptor is left to find its directory with, but that is held.
            (Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM), Some(turn)) => {
                Place::directly(turn.directory.as_fd(), name)
            }
            (place, _) => match place {
                Ok(place) => place,
                Err(_) => return,
            },
        };
        // A temporary that was renamed no longer stands there; another file is not ours.
        if let (Ok(there), Ok(own)) = (place.stat(), resolve::stat(self.file()))
            && identity(&there) == identity(&own)
        {
            let _ = system::unlink(place.directory(), place.name);
        }
    }
}

impl Confine {
    /// Makes a file that is not there. A temporary is locked for as long as it
    /// is open: one that nobody holds is left over from a process that died,
    /// and is removed when it is met.
    pub(super) fn make(
        &mut self,
        base: Arc<OwnedFd>,
        below: &str,
        access: OFlags,
    ) -> Result<Unfinished, Errno> {
        let turn = is_temporary(below)
            .then(|| self.take_turn(&base, below))
            .transpose()?;
        let kind = self.grant.new_file;
        let flags = access | OFlags::CREATE | OFlags::EXCL;
        let file = resolve::open(&base, below, flags, kind.mode())?;
        // From here on it is removed again, whatever fails.
        let mut unfinished = Unfinished {
            made: Arc::new(Made {
                file: Arc::new(file),
                name: below.to_owned(),
                found: None,
                changed: AtomicBool::new(false),
                stays: AtomicBool::new(false),
            }),
            base,
            turn,
        };
        let found = match &unfinished.turn {
            Some(_) => Some(held(unfinished.file())?),
            None => None,
        };
        // The umask has a say in the mode a file is made with, not in this one. It is the process's,
        // and cannot be read but by setting it: who did so would set it for other threads.
        let mode = kind.mode().as_raw_mode();
        let has_mode = found.is_some_and(|found| found.mode & MODE == mode);
        if kind == NewFile::Private && !has_mode {
            system::set_mode(unfinished.file().as_fd(), mode)?;
        } else if let Some(made) = Arc::get_mut(&mut unfinished.made) {
            made.found = found;
        }
        self.latest = Arc::downgrade(&unfinished.made);
        if let Some(written) = &mut self.written {
            written.restart();
        }
        Ok(unfinished)
    }

    /// The temporary that this instance made last, if `whole` is where it stands.
    pub(super) fn temporary(&self, whole: &str) -> Option<Arc<Made>> {
        let made = self.latest.upgrade()?;
        (made.name == whole && !made.is_staying()).then_some(made)
    }

    /// The lock on the directory that `below` stands in, which this instance
    /// may have already.
    fn take_turn(&mut self, base: &OwnedFd, below: &str) -> Result<Arc<Lock>, Errno> {
        let parent = below.rsplit_once('/').map_or(".", |(parent, _)| parent);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = resolve::open(base, parent, flags, Mode::empty())?;
        if let Some(held) = self.turn.upgrade() {
            let [here, there] = [&held.directory, &directory].map(resolve::stat);
            if identity(&here?) == identity(&there?) {
                return Ok(held);
            }
        }
        lock(&directory)?;
        if parent != "." {
            // No start looks into every directory there is.
            let late = || self.counters.is_late();
            let _ = temporaries::sweep(directory.as_fd(), late);
        }
        let turn = Arc::new(Lock { directory });
        self.turn = Arc::downgrade(&turn);
        Ok(turn)
    }
}

/// A directory that is locked until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    directory: OwnedFd,
}

/// Locks a temporary that was just made; what it is.
fn held(file: &OwnedFd) -> Result<Found, Errno> {
    lock(file)?;
    let found = resolve::stat(file)?;
    // Swept between its making and its locking.
    (found.links > 0).then_some(found).ok_or(Errno::AGAIN)
}

/// Takes the lock that keeps others of this program away. Whoever else holds
/// it for long makes the write fail, never hang.
fn lock(file: &OwnedFd) -> Result<(), Errno> {
    let give_up = Instant::now() + LOCK_PATIENCE;
    loop {
        match system::lock(file.as_fd()) {
            Err(Errno::AGAIN) if Instant::now() < give_up => {
                std::thread::sleep(LOCK_PAUSE);
            }
            // File systems without locks have no sweeping either.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => return Ok(()),
            // The same as OPNOTSUPP, where that is not the same number.
            Err(errno) if errno == Errno::NOTSUP => return Ok(()),
            result => return result,
        }
    }
}
