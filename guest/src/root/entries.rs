//! What a directory holds, as the host tells it: many entries at a time where
//! the host lets directories be read, and else one by one.

use std::ops::ControlFlow;

use preopen_contract::entries::{self, LEAST};
use wasip2::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorType, DirectoryEntryStream, ErrorCode,
    OpenFlags, PathFlags,
};

use crate::tree::{Entry, Fault, Kind, Wanted};

/// How many bytes of entries are asked for at a time where all are wanted.
const MANY: u64 = 32 << 10;

/// Hands every entry that the host shows of `directory` to `each`, until it breaks.
pub(super) fn all(
    directory: &Descriptor,
    wanted: Wanted,
    each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
) -> Result<(), Fault> {
    // To most hosts a directory is nothing that can be read.
    if directory.advise(0, 0, Advice::Sequential).is_err() {
        return one_by_one(directory, each);
    }
    let mut length = match wanted {
        Wanted::All => MANY,
        Wanted::Few => LEAST as u64,
    };
    let mut read = 0;
    loop {
        let (bytes, ended) = match directory.read(length, read) {
            Ok(part) => part,
            // It was advice, which a host may take and do nothing with.
            Err(
                ErrorCode::IsDirectory
                | ErrorCode::BadDescriptor
                | ErrorCode::Invalid
                | ErrorCode::Unsupported,
            ) if read == 0 => return one_by_one(directory, each),
            Err(code) => return Err(code.into()),
        };
        let text = simdutf8::basic::from_utf8(&bytes).map_err(|_| Fault::Other)?;
        for (kind, name) in entries::parse(text) {
            let kind = match kind {
                entries::Kind::File => Kind::File,
                entries::Kind::Directory => Kind::Directory,
                entries::Kind::Other => Kind::Other,
            };
            if each(Entry { name, kind }).is_break() {
                return Ok(());
            }
        }
        if ended {
            return Ok(());
        }
        read += bytes.len() as u64;
        length = MANY;
    }
}

fn one_by_one(
    directory: &Descriptor,
    each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let (_open, stream) = listing(directory)?;
    while let Some(entry) = stream.read_directory_entry()? {
        let (name, kind) = (entry.name.as_str(), kind(entry.type_));
        if each(Entry { name, kind }).is_break() {
            break;
        }
    }
    Ok(())
}

/// The entries of a directory, and what has to stay open for them: some hosts grant a root that
/// has to be opened once more before it can be listed.
pub(crate) fn listing(
    directory: &Descriptor,
) -> Result<(Option<Descriptor>, DirectoryEntryStream), ErrorCode> {
    if let Ok(stream) = directory.read_directory() {
        return Ok((None, stream));
    }
    let open = directory.open_at(
        PathFlags::empty(),
        ".",
        OpenFlags::DIRECTORY,
        DescriptorFlags::READ,
    )?;
    let stream = open.read_directory()?;
    Ok((Some(open), stream))
}

/// What the type of an entry means to the tools.
pub(crate) const fn kind(kind: DescriptorType) -> Kind {
    match kind {
        DescriptorType::RegularFile => Kind::File,
        DescriptorType::Directory => Kind::Directory,
        _ => Kind::Other,
    }
}
