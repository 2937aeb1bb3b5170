//! Below the guard: finding a name, and what the host says of it. No link is
//! followed; the rules are not known here.

use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, ErrorCode, MetadataHashValue, OpenFlags, PathFlags,
};

use crate::digest::Fields;
use crate::root::{Identity, kind};
use crate::tree::{Fault, Kind};

/// The directory that holds the last name of a path, and that name.
pub(super) struct Place<'a> {
    pub(super) parent: Option<Descriptor>,
    pub(super) base: &'a Descriptor,
    /// One name, without a slash.
    pub(super) name: &'a str,
}

impl Place<'_> {
    /// The directory the name stands in.
    pub(super) fn directory(&self) -> &Descriptor {
        self.parent.as_ref().unwrap_or(self.base)
    }

    /// What stands under the name, if anything; a link is a link.
    pub(super) fn stat(&self) -> Result<DescriptorStat, Fault> {
        self.directory()
            .stat_at(PathFlags::empty(), self.name)
            .map_err(fault)
    }

    pub(super) fn kind(&self) -> Result<Kind, Fault> {
        Ok(kind(self.stat()?.type_))
    }
}

/// Opens a directory that was looked at; should a link stand there by now, it is not followed.
pub(super) fn enter(from: &Descriptor, name: &str) -> Result<Descriptor, Fault> {
    let (open, rights) = (OpenFlags::DIRECTORY, DescriptorFlags::READ);
    from.open_at(PathFlags::empty(), name, open, rights)
        .map_err(fault)
}

/// What an error of a host that knows no rules means.
pub(crate) fn fault(code: ErrorCode) -> Fault {
    match code {
        ErrorCode::NotPermitted | ErrorCode::Access => Fault::Permission,
        ErrorCode::NotRecoverable | ErrorCode::NoDevice => Fault::Other,
        code => Fault::from(code),
    }
}

/// Identity and state of a file: the host's hash may be about its place alone.
pub(crate) fn identity(hash: &MetadataHashValue, stat: &DescriptorStat) -> Identity {
    let mut fields = Fields::default();
    fields.add(&hash.upper.to_le_bytes());
    fields.add(&hash.lower.to_le_bytes());
    fields.add(&stat.size.to_le_bytes());
    let times = [
        stat.data_modification_timestamp,
        stat.status_change_timestamp,
    ];
    for time in times.into_iter().flatten() {
        fields.add(&time.seconds.to_le_bytes());
        fields.add(&time.nanoseconds.to_le_bytes());
    }
    let mut short = Identity::default();
    for (to, from) in short.iter_mut().zip(fields.finish()) {
        *to = from;
    }
    short
}

/// Waits until the names in a directory are on the disk, as far as the host can: some cannot sync
/// a directory, or not the one they granted, and say so.
pub(crate) fn sync(directory: &Descriptor) -> Result<(), Fault> {
    let cannot = |code| {
        matches!(
            code,
            ErrorCode::Invalid | ErrorCode::Unsupported | ErrorCode::BadDescriptor
        )
    };
    match directory.sync() {
        Err(code) if cannot(code) => match enter(directory, ".")?.sync() {
            Err(code) if cannot(code) => Ok(()),
            synced => synced.map_err(fault),
        },
        synced => synced.map_err(fault),
    }
}
