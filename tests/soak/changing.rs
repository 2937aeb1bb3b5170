//! What the tools must answer that change the part of the root which the client
//! alone changes, and what they leave: the model is changed as the call will
//! change the disk, for calls that come later see it.

use serde_json::{Value, json};

use super::expected::Expected;
use super::model::{Model, Place, parent};
use super::texts;
use crate::harness::sha256;

/// What `if_hash` asks for.
#[derive(Clone, Debug)]
pub(super) enum IfHash {
    None,
    Absent,
    /// The hash of this.
    Of(Vec<u8>),
}

impl IfHash {
    /// The argument; null counts as absent.
    pub(super) fn argument(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Absent => json!("absent"),
            Self::Of(content) => json!(sha256(content)),
        }
    }
}

fn refused(text: &str) -> Expected {
    match text {
        // A name that is blocked may be told from one that a rule hides.
        texts::EXCLUDED => Expected::RefusedAs(text.to_owned()),
        text => Expected::Refused(text.to_owned()),
    }
}

/// What a file tool writes to `path`: nothing is in the way of the directories.
struct Written {
    replaced: bool,
    directories: usize,
}

fn write(
    model: &mut Model,
    path: &str,
    content: &[u8],
    condition: &IfHash,
) -> Result<Written, String> {
    let replaced = match (model.place(path), condition) {
        (Place::Hidden, _) => return Err(texts::EXCLUDED.to_owned()),
        (Place::File(_) | Place::Root | Place::Directory, IfHash::Absent) => {
            return Err(texts::NOT_ABSENT.to_owned());
        }
        (Place::File(file), IfHash::Of(of)) if *of != *file.content => {
            return Err(texts::HASH_MISMATCH.to_owned());
        }
        (Place::File(_), _) => true,
        (Place::Root | Place::Directory, _) => return Err(texts::NOT_REGULAR.to_owned()),
        (Place::Special | Place::Missing, IfHash::Of(_)) => {
            return Err(texts::HASH_OF_NOTHING.to_owned());
        }
        (Place::Special, IfHash::Absent) => return Err(texts::NOT_ABSENT.to_owned()),
        (Place::Special, IfHash::None) => return Err(texts::NOT_REGULAR.to_owned()),
        (Place::Missing, _) => false,
    };
    if let Some(name) = model.obstacle(parent(path)) {
        return Err(texts::in_the_way(name));
    }
    let directories = model.make(parent(path));
    model.write(path, content);
    Ok(Written {
        replaced,
        directories,
    })
}

/// What write_text_file must answer, for a name at the top of the root.
pub(super) fn write_text_file(
    model: &mut Model,
    path: &str,
    content: &str,
    condition: &IfHash,
) -> Expected {
    match write(model, path, content.as_bytes(), condition) {
        Ok(_) => Expected::Structured {
            value: json!({"path": path, "bytes": content.len(), "content_hash": sha256(content)}),
            text: None,
        },
        Err(refusal) => refused(&refusal),
    }
}

/// What write_file must answer.
pub(super) fn write_file(
    model: &mut Model,
    path: &str,
    content: &[u8],
    condition: &IfHash,
) -> Expected {
    if path.is_empty() {
        return Expected::Refused(texts::IS_DIRECTORY.to_owned());
    }
    let Written {
        replaced,
        directories,
    } = match write(model, path, content, condition) {
        Ok(written) => written,
        Err(refusal) => return refused(&refusal),
    };
    let (bytes, hash) = (content.len(), sha256(content));
    let done = if replaced { "Replaced" } else { "Created" };
    let mut text = format!("{done} {path} ({bytes} bytes, {hash})");
    match directories {
        0 => {}
        1 => text.push_str("\nCreated its directory too"),
        made => text.push_str(&format!("\nCreated {made} directories for it too")),
    }
    Expected::Structured {
        value: json!({
            "path": path,
            "bytes": bytes,
            "content_hash": hash,
            "replaced": replaced,
            "created_directories": directories,
        }),
        text: Some(text),
    }
}

/// What create_directory must answer.
pub(super) fn create_directory(model: &mut Model, path: &str) -> Expected {
    if matches!(model.place(path), Place::Hidden) {
        return refused(texts::EXCLUDED);
    }
    if let Some(name) = model.obstacle(path) {
        return Expected::Refused(texts::in_the_way(name));
    }
    let created = model.make(path);
    let text = match (path, created) {
        ("", _) => "The root itself is always there".to_owned(),
        (path, 0) => format!("{path} is a directory already"),
        (path, 1) => format!("Created directory {path}"),
        (path, created) => format!("Created directory {path} ({created} directories in all)"),
    };
    Expected::Structured {
        value: json!({"path": path, "created": created}),
        text: Some(text),
    }
}

fn removed(path: &str, removed: usize, text: String) -> Expected {
    Expected::Structured {
        value: json!({"path": path, "removed": removed}),
        text: Some(text),
    }
}

/// What delete_file must answer.
pub(super) fn delete_file(model: &mut Model, path: &str, condition: &IfHash) -> Expected {
    let refusal = match (model.place(path), condition) {
        (_, IfHash::Absent) => texts::REMOVAL_HASH,
        (Place::Root | Place::Directory, _) => texts::IS_DIRECTORY,
        (Place::Hidden, _) => texts::EXCLUDED,
        (Place::Special, _) => texts::SPECIAL,
        (Place::Missing, _) => texts::MISSING,
        (Place::File(file), IfHash::Of(of)) if *of != *file.content => texts::HASH_MISMATCH,
        (Place::File(_), _) => {
            let gone = model.remove(path);
            return removed(path, gone, format!("Deleted {path}"));
        }
    };
    refused(refusal)
}

/// What delete_directory must answer.
pub(super) fn delete_directory(model: &mut Model, path: &str, force: bool) -> Expected {
    let refusal = match model.place(path) {
        Place::Root => texts::ROOT_STAYS,
        Place::Hidden => texts::EXCLUDED,
        Place::File(_) => texts::NOT_DIRECTORY,
        Place::Special => texts::SPECIAL,
        Place::Missing => texts::MISSING,
        Place::Directory if !force && !model.is_empty(path) => texts::NOT_EMPTY,
        Place::Directory if model.hides(path) => texts::HOLDS_HIDDEN,
        Place::Directory => {
            let gone = model.remove(path);
            let text = match gone {
                1 => format!("Deleted directory {path}"),
                gone => format!("Deleted directory {path} ({gone} entries in all)"),
            };
            return removed(path, gone, text);
        }
    };
    refused(refusal)
}
