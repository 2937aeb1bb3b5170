//! delete_directory: removes an empty directory, or with `force` one with all
//! it holds: after a look at everything in it, and as far as the call's time
//! goes. It never removes the root and never follows a link.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::removing::{answer, kind, output};
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::refusal::Refusal;
use crate::removal::{self, Removable, Stop};
use crate::tools::schema::annotations;
use crate::tools::{Answer, Call, Tool};
use crate::tree::{Fault, Kind};

/// The most of a call's time that is left to say how far it came.
const MARGIN: Duration = Duration::from_secs(3);

pub(super) const TOOL: Tool = Tool {
    name: "delete_directory",
    writes: true,
    arguments: &["path", "force"],
    definition,
    call,
};

fn definition(_: &Settings) -> Value {
    let title = "Delete a directory";
    json!({
        "name": TOOL.name,
        "title": title,
        "description": "Removes a directory for good: an empty one, or with force one with everything in it. What links in it point to stays.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The directory, relative to the root, such as `notes/old`; never the root itself."
                },
                "force": {
                    "type": "boolean",
                    "default": false,
                    "description": "Whether everything in it is removed with it."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "outputSchema": output(),
        "annotations": annotations(title, false, true)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let end = end(Instant::now(), call.settings.limits.call_timeout);
    let path = call.arguments.file_path()?;
    let force = call.arguments.strict_boolean("force")?;
    if path.is_root() {
        return Err(Refusal::RootStays);
    }
    let path = path.as_str();
    if kind(call, path, Kind::Directory)? != Kind::Directory {
        return Err(Refusal::NotDirectory);
    }
    let mut removed = 0;
    if force {
        let is_late = || Instant::now() >= end;
        let directory = call
            .root
            .mutable_directory(path)
            .map_err(Refusal::removing)?;
        let look = directory.enter(".").map_err(Refusal::removing)?;
        removal::look(look, &mut call.bounds(), &is_late)?;
        let max_depth = call.settings.limits.max_depth;
        removal::empty(directory, max_depth, &mut removed, &is_late)
            .map_err(|stop| stop.refusal(removed))?;
    }
    match call.root.remove_directory(path) {
        Ok(()) => removed += 1,
        // Somebody else removed it when it was empty.
        Err(Fault::Missing) if removed > 0 => {}
        // It was emptied, and somebody else put something in it meanwhile.
        Err(Fault::NotEmpty) if force && removed == 0 => return Err(Refusal::Unremoved),
        Err(fault) => return Err(Stop::Fault(fault).refusal(removed)),
    }
    let text = match removed {
        1 => format!("Deleted directory {path}"),
        removed => format!("Deleted directory {path} ({removed} entries in all)"),
    };
    Ok(answer(path, removed, text))
}

/// When a call that began at `start` and has `timeout` milliseconds stops by itself.
fn end(start: Instant, timeout: u64) -> Instant {
    let timeout = Duration::from_millis(timeout);
    start + (timeout - (timeout / 4).min(MARGIN))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::end;

    #[test]
    fn some_of_the_time_is_left_for_the_answer() {
        let start = Instant::now();
        for (timeout, used) in [(30_000, 27_000), (8_000, 6_000), (100, 75), (1, 1)] {
            let expected = start + Duration::from_millis(used);
            let actual = end(start, timeout);
            assert!(actual <= expected && actual + Duration::from_millis(1) > expected);
        }
    }
}
