//! Every text with which the server may refuse in a soak, and which of them a
//! path may get that somebody else changes meanwhile. Nothing else is known of
//! the tools here.

use super::model::Place;

pub(super) const NOT_SERVED: &str = "path is not served by this root";
pub(super) const MISSING: &str = "path does not exist in this root";
pub(super) const IS_DIRECTORY: &str = "path is a directory, not a file";
pub(super) const NOT_DIRECTORY: &str = "path is a file, not a directory";
pub(super) const CURSOR: &str = "cursor is not valid; leave it out to start again";
pub(super) const OTHER_TRAVERSAL: &str =
    "cursor belongs to a different traversal; leave it out to start again";
pub(super) const CHANGED: &str =
    "the filesystem changed since this cursor was issued; start the traversal again";
pub(super) const LIMIT: &str = "limit must be at least 1";
pub(super) const EXCLUDED: &str = "path is hidden by an exclude rule of this root";
pub(super) const NOT_REGULAR: &str = "path exists and is not a regular file; choose another name";
pub(super) const NOT_ABSENT: &str = "path exists, but if_hash is `absent`; nothing was changed";
pub(super) const HASH_MISMATCH: &str =
    "the present content does not have if_hash; read the file again, nothing was changed";
pub(super) const HASH_OF_NOTHING: &str =
    "path does not exist, so it cannot have if_hash; nothing was changed";
pub(super) const IF_HASH: &str =
    "if_hash must be `absent` or a content_hash: sha256: and 64 lowercase hex digits";
pub(super) const REMOVAL_HASH: &str =
    "if_hash must be a content_hash: sha256: and 64 lowercase hex digits";
pub(super) const NOT_A_BASENAME: &str = "path must be one basename for a file at the top of the root: [a-z0-9][a-z0-9._-]{0,254}, without directories";
pub(super) const ROOT_STAYS: &str = "the root itself is never removed; name a directory in it";
pub(super) const SPECIAL: &str =
    "path is a link, pipe, socket or device; it is removed only with the directory that it is in";
pub(super) const NOT_EMPTY: &str =
    "the directory is not empty; nothing was removed (force removes it with all it holds)";
pub(super) const HOLDS_HIDDEN: &str = "the rules of this root hide something in the directory, or a name in it cannot be spelled; nothing was removed";
pub(super) const NOT_RELATIVE: &str = "paths are relative to the root: send names joined by `/`, such as lib/a.ts (no leading `/`, no `.` or `..`, no `\\`, no drive prefix, no NUL, at most 1024 bytes)";
pub(super) const QUERY: &str = "query must be one line of 1 to 256 bytes";

/// What else may be said of a path that somebody else changes.
const CONTESTED: [&str; 22] = [
    NOT_SERVED,
    MISSING,
    IS_DIRECTORY,
    NOT_DIRECTORY,
    CHANGED,
    EXCLUDED,
    NOT_REGULAR,
    NOT_ABSENT,
    HASH_MISMATCH,
    HASH_OF_NOTHING,
    SPECIAL,
    NOT_EMPTY,
    HOLDS_HIDDEN,
    "the operating system does not allow this server to open the path",
    "the operating system does not allow this server to write the path",
    "the operating system does not allow this server to remove it; nothing was removed",
    "the path could not be read; try again",
    "the file keeps changing; try again",
    "the file could not be written; nothing was changed",
    "a directory could not be made; nothing was changed",
    "the file was written, but the disk did not confirm it; write it again",
    "it could not be removed; nothing was removed, try again",
];

/// Whether a call for a path that somebody else changes may be refused so.
pub(super) fn is_contested(text: &str) -> bool {
    CONTESTED.contains(&text)
        || (text.starts_with("a file or a link is in the way: `")
            && text.ends_with("` in this path is not a directory"))
        || (text.starts_with("not all of it is removed: ")
            && [
                "something was put there that the rules of this root hide",
                "it kept changing or failed",
                "the operating system did not allow the next",
                "the next could not be removed",
            ]
            .iter()
            .any(|why| text.contains(why)))
}

/// What is in the way of a directory.
pub(super) fn in_the_way(name: &str) -> String {
    format!("a file or a link is in the way: `{name}` in this path is not a directory")
}

/// What a tool that wants a file says where none is; `place` is not a file.
pub(super) fn no_file(place: Place<'_>) -> &'static str {
    match place {
        Place::Root | Place::Directory => IS_DIRECTORY,
        Place::Hidden => NOT_SERVED,
        Place::File(_) | Place::Special | Place::Missing => MISSING,
    }
}
