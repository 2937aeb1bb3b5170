//! Puts a whole file in its place, or nothing: the content goes to a temporary,
//! which the host knows by its name; finished, it is renamed to replace a file,
//! or linked where there must not be one. It knows no tool and no arguments.

use preopen_contract::hash::hex;
use preopen_contract::policy::{RESERVED_PREFIX, RESERVED_SUFFIX};
use wasip2::random::random::get_random_bytes;

use crate::bindings::exports::preopen::mcp::tools::{Settings, WriteMode};
use crate::digest::{ContentHash, is_content_hash};
use crate::parents::{self, Parents, parent};
use crate::refusal::Refusal;
use crate::root::{Dir, File, Identity};
use crate::scan::BLOCK_BYTES;
use crate::tree::Fault;

/// `if_hash` where there must be no file.
const ABSENT: &str = "absent";

/// Takes some bytes of a content.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Refusal>;

/// What is written.
pub(crate) trait Content {
    /// Hands all of it to `each`, in blocks that a host may copy.
    fn blocks(&self, each: Sink<'_>) -> Result<(), Refusal>;
}

impl Content for [u8] {
    fn blocks(&self, each: Sink<'_>) -> Result<(), Refusal> {
        let size = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
        self.chunks(size).try_for_each(each)
    }
}

/// What must be true of the present file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition<'a> {
    None,
    Absent,
    Hash(&'a str),
}

impl<'a> Condition<'a> {
    /// What `if_hash` asks for.
    pub(crate) fn parse(if_hash: Option<&'a str>, settings: &Settings) -> Result<Self, Refusal> {
        let prefix = ContentHash::prefix(settings.hash_key.as_deref());
        match if_hash {
            None => Ok(Self::None),
            Some(ABSENT) => Ok(Self::Absent),
            Some(hash) if is_content_hash(hash, prefix) => Ok(Self::Hash(hash)),
            Some(_) => Err(Refusal::IfHashForm(prefix)),
        }
    }
}

/// What was done besides writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Whether there was a file before.
    pub(crate) replaced: bool,
    /// How many directories were made for it.
    pub(crate) directories: usize,
}

/// Writes `content` to the file `path` and makes the directories it needs, if the `condition` and
/// the settings allow it.
pub(crate) fn place(
    root: &Dir,
    settings: &Settings,
    path: &str,
    condition: Condition<'_>,
    content: &(impl Content + ?Sized),
) -> Result<Placed, Refusal> {
    let way = Way::find(root, settings, path, condition)?;
    // What is in the way of a directory is found before anything is written.
    parents::missing(root, parent(path))?;
    let made = match way.go("", content) {
        // Somewhere in the root is another filesystem, or the only place that can be written.
        Err(Failure::Place(_)) if !parent(path).is_empty() => way.go(parent(path), content),
        result => result,
    }
    .map_err(|failure| match failure {
        Failure::Place(fault) => Refusal::writing(fault),
        Failure::Refused(refusal) => refusal,
    })?;
    let mut changed: Vec<&str> = made.iter().map(|directory| parent(directory)).collect();
    changed.push(parent(path));
    for directory in changed {
        confirm(root, directory).map_err(|_| Refusal::Unconfirmed)?;
    }
    Ok(Placed {
        replaced: matches!(way.what, What::Replaces(_)),
        directories: made.len(),
    })
}

/// Waits until the names in a directory are on the disk.
fn confirm(root: &Dir, directory: &str) -> Result<(), Fault> {
    match directory {
        "" => root.sync(),
        below => root.mutable_directory(below)?.sync(),
    }
}

/// Why a temporary did not get to its place.
enum Failure {
    /// It may, from another directory.
    Place(Fault),
    Refused(Refusal),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// How a file gets its name.
struct Way<'a> {
    root: &'a Dir,
    path: &'a str,
    what: What,
}

/// What happens to what has the name.
enum What {
    /// It is replaced; if it was compared, only as long as it is still this one.
    Replaces(Option<Identity>),
    /// Nothing has the name, and if something gets it meanwhile, it is replaced.
    Makes,
    /// Nothing has it; where something gets it, that stays, and this is said.
    Creates(Refusal),
}

impl<'a> Way<'a> {
    /// What can be known before anything is made.
    fn find(
        root: &'a Dir,
        settings: &Settings,
        path: &'a str,
        condition: Condition<'_>,
    ) -> Result<Self, Refusal> {
        let what = match (settings.write_mode, condition) {
            (WriteMode::Replace, Condition::None) => replaces(root, settings, path, None)?,
            (WriteMode::Replace, Condition::Hash(hash)) => {
                replaces(root, settings, path, Some(hash))?
            }
            (WriteMode::Replace, Condition::Absent) => creates(root, path, Refusal::NotAbsent)?,
            (WriteMode::CreateNew, Condition::None | Condition::Absent) => {
                creates(root, path, Refusal::Exists)?
            }
            // No file that exists may be written here, and no other one can have the hash.
            (WriteMode::CreateNew, Condition::Hash(_)) => {
                creates(root, path, Refusal::Exists)?;
                return Err(Refusal::HashOfNothing);
            }
        };
        Ok(Self { root, path, what })
    }

    /// Writes to a temporary in `directory` and to the disk, and gives it its name. Whatever fails,
    /// nothing that was made is left. The answer is which directories were made.
    fn go(
        &self,
        directory: &str,
        content: &(impl Content + ?Sized),
    ) -> Result<Vec<&'a str>, Failure> {
        // In the root, nothing else is made before the content is complete.
        let early = match directory {
            "" => None,
            _ => Some(Parents::make(self.root, parent(self.path))?),
        };
        let temporary = Temporary::make(self.root, directory)?;
        let mut offset = 0;
        content.blocks(&mut |block| {
            temporary
                .file
                .write(block, offset)
                .map_err(Refusal::writing)?;
            offset += block.len() as u64;
            Ok(())
        })?;
        temporary.file.sync().map_err(Refusal::writing)?;
        let parents = match early {
            Some(parents) => parents,
            None => Parents::make(self.root, parent(self.path))?,
        };
        self.put(temporary)?;
        Ok(parents.keep())
    }

    fn put(&self, temporary: Temporary<'_>) -> Result<(), Failure> {
        let failure = |fault, refusal| match fault {
            // A temporary cannot be moved there; one may be made there.
            Fault::OtherDisk => Failure::Place(fault),
            _ => Failure::Refused(refusal),
        };
        if let What::Creates(exists) = &self.what {
            return self
                .root
                .link(&temporary.name, self.path)
                .map_err(|fault| match fault {
                    Fault::Exists => Failure::Refused(exists.clone()),
                    fault => failure(fault, Refusal::writing(fault)),
                });
        }
        // As late as can be: what changed since it was compared is not overwritten.
        if let What::Replaces(Some(compared)) = self.what {
            is_still(self.root, self.path, compared, Refusal::writing)?;
        }
        self.root
            .rename(&temporary.name, self.path)
            .map_err(|fault| match fault {
                // A link, pipe, socket or device opens as missing and is not there to be replaced.
                Fault::Missing => Refusal::NotRegular.into(),
                fault => failure(fault, Refusal::writing(fault)),
            })?;
        temporary.was_renamed();
        Ok(())
    }
}

/// Replaces `path`, or makes it; with a hash only if the present content has it.
fn replaces(
    root: &Dir,
    settings: &Settings,
    path: &str,
    hash: Option<&str>,
) -> Result<What, Refusal> {
    match (root.writable_file(path), hash) {
        (Ok(file), Some(hash)) => Ok(What::Replaces(Some(compare(&file, hash, settings)?))),
        (Ok(_), None) => Ok(What::Replaces(None)),
        (Err(Fault::Missing), Some(_)) => Err(Refusal::HashOfNothing),
        (Err(Fault::Missing), None) => Ok(What::Makes),
        (Err(fault), _) => Err(Refusal::writing(fault)),
    }
}

/// Makes `path` and never overwrites; `exists` is what to say where something has the name.
fn creates(root: &Dir, path: &str, exists: Refusal) -> Result<What, Refusal> {
    match root.file(path) {
        // What has the name later, linking finds.
        Err(Fault::Missing) => Ok(What::Creates(exists)),
        Ok(_) | Err(Fault::IsDirectory) => Err(exists),
        // The file cannot be opened, and not a directory above it that cannot be entered.
        Err(Fault::Permission) if root.kind(path).is_ok() => Err(exists),
        Err(fault) => Err(Refusal::writing(fault)),
    }
}

/// A temporary, and with it the turn to write. Dropped, it is removed.
pub(crate) struct Temporary<'a> {
    root: &'a Dir,
    name: String,
    file: File,
}

impl<'a> Temporary<'a> {
    /// Makes one in `directory`; the root's path is empty.
    fn make(root: &'a Dir, directory: &str) -> Result<Self, Failure> {
        let mut name = directory.to_owned();
        if !name.is_empty() {
            name.push('/');
        }
        name.push_str(RESERVED_PREFIX);
        hex(&mut name, &get_random_bytes(16));
        name.push_str(RESERVED_SUFFIX);
        match root.create(&name) {
            Ok(file) => Ok(Self { root, name, file }),
            Err(fault @ (Fault::Permission | Fault::ReadOnly)) => Err(Failure::Place(fault)),
            // Whoever makes a temporary has the turn to write until it is in its place.
            Err(Fault::Busy) => Err(Refusal::Busy.into()),
            Err(fault) => Err(Refusal::writing(fault).into()),
        }
    }

    fn was_renamed(mut self) {
        self.name.clear();
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // Should this fail, the host removes it when it starts the next time. Where it was
            // linked, the host may have moved it instead.
            self.root.unlink(&self.name).ok();
        }
    }
}

/// Takes the turn to write in this root, or in the directory of `path` where the root itself
/// cannot be written: until it is given back, nobody replaces what was compared.
pub(crate) fn take_turn<'a>(root: &'a Dir, path: &str) -> Result<Temporary<'a>, Refusal> {
    let taken = match Temporary::make(root, "") {
        Err(Failure::Place(_)) if !parent(path).is_empty() => Temporary::make(root, parent(path)),
        result => result,
    };
    taken.map_err(|failure| match failure {
        Failure::Place(fault) => Refusal::writing(fault),
        Failure::Refused(refusal) => refusal,
    })
}

/// Says no unless the file at `path` is still the one that was `compared`.
pub(crate) fn is_still(
    root: &Dir,
    path: &str,
    compared: Identity,
    refusal: impl FnOnce(Fault) -> Refusal,
) -> Result<(), Refusal> {
    match root.identity(path) {
        Ok(identity) if identity == compared => Ok(()),
        Ok(_) | Err(Fault::Missing) => Err(Refusal::HashMismatch),
        Err(fault) => Err(refusal(fault)),
    }
}

/// The identity of `file`, if its content has `hash`.
pub(crate) fn compare(file: &File, hash: &str, settings: &Settings) -> Result<Identity, Refusal> {
    let identity = file.identity().map_err(Refusal::writing)?;
    let size = file.size().map_err(Refusal::writing)?;
    let limit = settings.limits.max_file_bytes;
    if size > limit {
        return Err(Refusal::FileTooLarge { size, limit });
    }
    let mut present = ContentHash::new(settings.hash_key.as_deref());
    let mut offset = 0;
    // No further: what is appended meanwhile changes the identity.
    while offset < size {
        let (block, _) = file
            .read(offset, BLOCK_BYTES.min(size - offset))
            .map_err(Refusal::writing)?;
        if block.is_empty() {
            break;
        }
        present.update(&block);
        offset += block.len() as u64;
    }
    if present.finish() == hash {
        Ok(identity)
    } else {
        Err(Refusal::HashMismatch)
    }
}
