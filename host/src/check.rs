//! `preopen-mcp check`: for each path, whether it is served and by which rule.
//! It asks the same policy the server asks, and opens nothing.

use std::fmt::Write;

use preopen_mcp::path::RelPath;
use preopen_mcp::policy::{Policy, Rule, Verdict};
use preopen_mcp::{Options, Root, RootError};

use crate::{Failure, print};

/// Prints one line a path.
pub(crate) fn run(options: &Options, paths: &[String]) -> Result<(), Failure> {
    // The same checks as at the start of a server, so that what is said here
    // is what would be served.
    Root::open(Options {
        read_only: true,
        ..options.clone()
    })?;
    let policy = Policy::new(&options.include, &options.exclude).map_err(RootError::from)?;
    let mut out = String::new();
    for path in paths {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{path}: {}", verdict(&policy, path));
    }
    print(out.as_bytes())
}

fn verdict(policy: &Policy, path: &str) -> String {
    let path = match RelPath::parse(path) {
        Err(error) => return format!("refused; {error}"),
        Ok(path) if path.is_root() => return "the root itself".to_owned(),
        Ok(path) => path,
    };
    let below = policy.directory(path.as_str()) == Verdict::Served;
    let below = if below {
        ""
    } else {
        "; nothing below it is either"
    };
    match policy.explain(path.as_str()) {
        (Verdict::Served, Some(Rule::Include(glob))) => format!("served, by --include {glob}"),
        (Verdict::Served, _) => "served".to_owned(),
        (_, Some(Rule::Exclude(glob))) => {
            format!("not served, by --exclude {glob}{below}")
        }
        (_, Some(Rule::Reserved)) => {
            "not served: the name is reserved for files that are being written".to_owned()
        }
        _ if below.is_empty() => {
            "not served as a file; as a directory it is, for what --include selects below it"
                .to_owned()
        }
        _ => "not served: no --include pattern matches it".to_owned(),
    }
}
