//! A file in the making. However its call ends, failed or stopped half-way,
//! nothing is left of it; and of those who replace files in one directory, in
//! whatever process, one at a time does. It knows no handle and no rights.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::descriptor::identity;
use super::resolve::{self, Place};
use super::system;
use super::temporaries::{self, is_temporary};
use super::{Confine, NewFile};

/// How long a write waits for another one in the same directory, and how long
/// between two looks. A write takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// A file that is not complete. Dropped, it is removed.
#[derive(Debug)]
pub(super) struct Unfinished {
    file: Arc<OwnedFd>,
    base: Arc<OwnedFd>,
    /// Where it stands below `base`; empty once it is finished.
    name: String,
    /// The lock on its directory, held as long as it is unfinished.
    turn: Option<Arc<Lock>>,
}

impl Unfinished {
    /// What it is written through.
    pub(super) const fn file(&self) -> &Arc<OwnedFd> {
        &self.file
    }

    /// It is complete, and stays.
    pub(super) fn finish(mut self) {
        self.name.clear();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.name.is_empty() {
            return;
        }
        let place = match (Place::of(self.base.as_fd(), &self.name), &self.turn) {
            // No descriptor is left to find its directory with, but that is held.
            (Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM), Some(turn)) => {
                Place::directly(turn.directory.as_fd(), &self.name)
            }
            (place, _) => match place {
                Ok(place) => place,
                Err(_) => return,
            },
        };
        // A temporary that was renamed no longer stands there; another file is not ours.
        if let (Ok(there), Ok(own)) = (place.stat(), resolve::stat(&*self.file))
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
        let made = Unfinished {
            file: Arc::new(file),
            base,
            name: below.to_owned(),
            turn,
        };
        if kind == NewFile::Private {
            // The umask has a say in the mode a file is made with, not in this one. It is the process's,
            // and cannot be read but by setting it: who did so would set it for other threads.
            system::set_mode(made.file.as_fd(), kind.mode().as_raw_mode())?;
        }
        if made.turn.is_some() {
            lock(&made.file)?;
            if resolve::stat(&*made.file)?.links == 0 {
                // Swept between its making and its locking.
                return Err(Errno::AGAIN);
            }
        }
        Ok(made)
    }

    /// The lock on the directory that `below` stands in, which this instance
    /// may have already.
    fn take_turn(&mut self, base: &OwnedFd, below: &str) -> Result<Arc<Lock>, Errno> {
        let parent = below.rsplit_once('/').map_or(".", |(parent, _)| parent);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = resolve::open(base, parent, flags, Mode::empty())?;
        let identity = identity(&resolve::stat(&directory)?);
        if let Some(held) = self.turn.upgrade()
            && held.identity == identity
        {
            return Ok(held);
        }
        lock(&directory)?;
        if parent != "." {
            // No start looks into every directory there is.
            let late = || self.counters.is_late();
            let _ = temporaries::sweep(directory.as_fd(), late);
        }
        let turn = Arc::new(Lock {
            identity,
            directory,
        });
        self.turn = Arc::downgrade(&turn);
        Ok(turn)
    }
}

/// A directory that is locked until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    identity: ((u32, u32), u64),
    directory: OwnedFd,
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
