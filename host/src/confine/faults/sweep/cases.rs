//! The calls that meet the faults: every tool, in every way that leads through
//! other system calls.

use rustix::io::Errno;
use serde_json::{Value, json};

use super::world::{Answer, OLD, World, hash};
use crate::confine::faults::{Effect, Fault, Kind};
use crate::root::Toolset;

/// What a tool does to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    Write,
    Remove,
}

/// One call.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    pub(super) does: Does,
    pub(super) arguments: fn(&World) -> Value,
    /// What is in the way anyway, so that the call goes another way.
    pub(super) anyway: &'static [Fault],
    /// The tools of the server: those of `Core` make files for the user alone.
    pub(super) toolset: Toolset,
}

const fn case(
    name: &'static str,
    does: Does,
    tool: &'static str,
    arguments: fn(&World) -> Value,
) -> Case {
    Case {
        name,
        tool,
        does,
        arguments,
        anyway: &[],
        toolset: Toolset::All,
    }
}

impl Case {
    const fn despite(mut self, anyway: &'static [Fault]) -> Self {
        self.anyway = anyway;
        self
    }

    const fn among(mut self, toolset: Toolset) -> Self {
        self.toolset = toolset;
        self
    }
}

/// Two directories of one root are on different file systems.
const OTHER_DISK: &[Fault] = &[Fault {
    kind: Kind::Rename,
    nth: 1,
    lasting: false,
    effect: Effect::Fails(Errno::XDEV),
}];

/// The file system cannot rename without replacing.
const ONLY_LINKS: &[Fault] = &[Fault {
    kind: Kind::Rename,
    nth: 1,
    lasting: true,
    effect: Effect::Fails(Errno::INVAL),
}];

/// The file system does not say in a listing what an entry is.
const NO_KINDS: &[Fault] = &[Fault {
    kind: Kind::List,
    nth: 1,
    lasting: true,
    effect: Effect::TellsNoKind,
}];

/// The cursor behind the first page of a call.
fn next(world: &World, tool: &str, mut arguments: Value) -> Value {
    match world.call(tool, &arguments) {
        Answer::Given(result) => {
            arguments["cursor"] = result["structuredContent"]["next_cursor"].clone();
            assert!(arguments["cursor"].is_string(), "{result}");
            arguments
        }
        Answer::Refused(text) => panic!("{text}"),
    }
}

pub(super) const READING: &[Case] = &[
    case("a list", Does::Read, "list_directory", |_| json!({})),
    case(
        "a list further down",
        Does::Read,
        "list_directory",
        |_| json!({"path": "d"}),
    ),
    case(
        "a list of a file",
        Does::Read,
        "list_directory",
        |_| json!({"path": "f.txt"}),
    ),
    case("a list without kinds", Does::Read, "list_directory", |_| {
        json!({})
    })
    .despite(NO_KINDS),
    case(
        "paths",
        Does::Read,
        "search_files",
        |_| json!({"query": "h"}),
    ),
    case(
        "lines",
        Does::Read,
        "search_text",
        |_| json!({"query": "needle"}),
    ),
    case(
        "lines of a file",
        Does::Read,
        "search_text",
        |_| json!({"query": "needle", "path": "d/g.txt"}),
    ),
    case("more lines", Does::Read, "search_text", |world| {
        next(world, "search_text", json!({"query": "needle", "limit": 1}))
    }),
    case(
        "a file",
        Does::Read,
        "read_text_file",
        |_| json!({"path": "d/e/h.txt"}),
    ),
    case(
        "a page",
        Does::Read,
        "read_text_file",
        |_| json!({"path": "long.txt"}),
    ),
    case("another page", Does::Read, "read_text_file", |world| {
        next(world, "read_text_file", json!({"path": "long.txt"}))
    }),
    case(
        "a directory as a file",
        Does::Read,
        "read_text_file",
        |_| json!({"path": "d"}),
    ),
    case(
        "a whole file",
        Does::Read,
        "read_file",
        |_| json!({"path": "long.txt"}),
    ),
    case(
        "bytes",
        Does::Read,
        "read_file",
        |_| json!({"path": "d/e/h.txt", "binary": true}),
    ),
    case("a whole list", Does::Read, "list_files", |_| json!({})),
    case(
        "a whole list without kinds",
        Does::Read,
        "list_files",
        |_| json!({}),
    )
    .despite(NO_KINDS),
    case(
        "excerpts",
        Does::Read,
        "search_in_file",
        |_| json!({"path": ".", "search_string": "needle"}),
    ),
    case(
        "excerpts of a file",
        Does::Read,
        "search_in_file",
        |_| json!({"path": "f.txt", "search_string": "needle"}),
    ),
];

pub(super) const WRITING: &[Case] = &[
    case(
        "a new file",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "new.txt", "content": "new"}),
    ),
    case(
        "a new file of the user's own",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "new.txt", "content": "new"}),
    )
    .among(Toolset::Core),
    case(
        "a file replaced",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "f.txt", "content": "new"}),
    ),
    case(
        "a file that is known",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "f.txt", "content": "new", "if_hash": hash(OLD)}),
    ),
    case(
        "a file that is absent",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "new.txt", "content": "new", "if_hash": "absent"}),
    ),
    case(
        "a file that is linked",
        Does::Write,
        "write_text_file",
        |_| json!({"path": "new.txt", "content": "new", "if_hash": "absent"}),
    )
    .despite(ONLY_LINKS),
    case(
        "a file with parents",
        Does::Write,
        "write_file",
        |_| json!({"path": "a/b/c/new.txt", "content": "new"}),
    ),
    case(
        "a file further down",
        Does::Write,
        "write_file",
        |_| json!({"path": "d/e/h.txt", "content": "bmV3", "binary": true}),
    ),
    case(
        "a file elsewhere",
        Does::Write,
        "write_file",
        |_| json!({"path": "d/e/h.txt", "content": "new"}),
    )
    .despite(OTHER_DISK),
    case(
        "a file with parents elsewhere",
        Does::Write,
        "write_file",
        |_| json!({"path": "d/a/b/new.txt", "content": "new"}),
    )
    .despite(OTHER_DISK),
    case(
        "a directory",
        Does::Write,
        "create_directory",
        |_| json!({"path": "d/a/b"}),
    ),
];

pub(super) const REMOVING: &[Case] = &[
    case(
        "a file",
        Does::Remove,
        "delete_file",
        |_| json!({"path": "d/g.txt"}),
    ),
    case(
        "a file that is known",
        Does::Remove,
        "delete_file",
        |_| json!({"path": "f.txt", "if_hash": hash(OLD)}),
    ),
    case(
        "an empty directory",
        Does::Remove,
        "delete_directory",
        |_| json!({"path": "empty"}),
    ),
    case(
        "a tree",
        Does::Remove,
        "delete_directory",
        |_| json!({"path": "d", "force": true}),
    ),
    case(
        "what was left",
        Does::Remove,
        "delete_directory",
        |_| json!({"path": "left"}),
    ),
    case(
        "what was left, by force",
        Does::Remove,
        "delete_directory",
        |_| json!({"path": "left", "force": true}),
    ),
];
