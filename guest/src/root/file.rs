//! An open regular file of the root: its size, identity and content.

use std::rc::Rc;

use wasip2::filesystem::types::{Descriptor, ErrorCode};

use super::identity;
use crate::standalone::guard::{self, Guard};
use crate::tree::Fault;

/// What tells whether a file is still the same one with the same content: the host's hash over
/// device, inode, size, and both times in nanoseconds.
pub(crate) type Identity = [u8; 16];

/// An open regular file.
#[derive(Debug)]
pub(crate) struct File {
    pub(super) descriptor: Descriptor,
    /// What watches over it where the host does not.
    pub(super) guard: Option<Rc<Guard>>,
}

/// What changes with the content of an open file: while it is the same, so is the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// In bytes.
    pub(crate) size: u64,
    /// Seconds and nanoseconds of the last modification and the last change of status.
    times: [Option<(u64, u32)>; 2],
}

impl File {
    /// Its size in bytes.
    pub(crate) fn size(&self) -> Result<u64, Fault> {
        Ok(self.ask(self.descriptor.stat())?.size)
    }

    /// Its size and times now. Asking costs the host less than [`Self::identity`].
    pub(crate) fn version(&self) -> Result<Version, Fault> {
        let stat = self.ask(self.descriptor.stat())?;
        let times = [
            stat.data_modification_timestamp,
            stat.status_change_timestamp,
        ];
        Ok(Version {
            size: stat.size,
            times: times.map(|time| time.map(|time| (time.seconds, time.nanoseconds))),
        })
    }

    /// Its identity now, as [`Dir::identity`](super::Dir::identity) gives it.
    pub(crate) fn identity(&self) -> Result<Identity, Fault> {
        let hash = self.ask(self.descriptor.metadata_hash())?;
        match self.guard {
            None => Ok(identity(&hash)),
            Some(_) => Ok(guard::identity(&hash, &self.ask(self.descriptor.stat())?)),
        }
    }

    /// At most `len` bytes from `offset`, and whether the end of the file was reached. The host
    /// may give fewer than asked, never none before the end.
    pub(crate) fn read(&self, offset: u64, len: u64) -> Result<(Vec<u8>, bool), Fault> {
        let read = self.ask(self.descriptor.read(len, offset))?;
        if let Some(guard) = &self.guard {
            guard.watch.moved(read.0.len())?;
        }
        Ok(read)
    }

    /// Writes `content` at `offset`.
    pub(crate) fn write(&self, content: &[u8], mut offset: u64) -> Result<(), Fault> {
        let mut rest = content;
        while !rest.is_empty() {
            let written = self.ask(self.descriptor.write(rest, offset))?;
            offset += written;
            rest = match usize::try_from(written) {
                Ok(written @ 1..) => rest.get(written..).ok_or(Fault::Other)?,
                _ => return Err(Fault::Other),
            };
        }
        if let Some(guard) = &self.guard {
            guard.watch.moved(content.len())?;
        }
        Ok(())
    }

    /// Waits until it is on the disk.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        self.ask(self.descriptor.sync())
    }

    /// What the answer of the host means.
    fn ask<T>(&self, answer: Result<T, ErrorCode>) -> Result<T, Fault> {
        answer.map_err(|code| match self.guard {
            None => Fault::from(code),
            Some(_) => guard::fault(code),
        })
    }
}
