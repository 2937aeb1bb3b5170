//! A component that imports what is not granted does not start.

#![allow(clippy::unwrap_used)]

use crate::root::{Options, Root};
use crate::sandbox::embedded::{IMPORTS, Source};
use crate::sandbox::{Chamber, State};
use wasmtime::component::InstancePre;

fn load(name: &str) -> wasmtime::Result<InstancePre<State>> {
    let directory = tempfile::tempdir().unwrap();
    let root = Root::open(Options::new(directory.path(), ["**"])).unwrap();
    let chamber = Chamber::new(root.grant.clone(), root.limits.clone(), 1).unwrap();
    let at = IMPORTS.iter().position(|(other, _)| *other == name);
    chamber.load(Source::Import(at.unwrap()))
}

/// What each of them imports, and so is told that it cannot have.
const REFUSED: [(&str, &str); 11] = [
    ("a-function", "system"),
    ("a-module", "library"),
    ("http", "wasi:http/outgoing-handler"),
    ("keyvalue", "wasi:keyvalue/store"),
    ("later-files", "wasi:filesystem/types@0.3.0"),
    ("ours", "preopen:mcp/host"),
    ("programs", "wasi:cli/command-runner"),
    ("sockets-names", "wasi:sockets/ip-name-lookup"),
    ("sockets-network", "wasi:sockets/instance-network"),
    ("sockets-tcp", "wasi:sockets/tcp-create-socket"),
    ("sockets-udp", "wasi:sockets/udp-create-socket"),
];

#[test]
fn what_imports_something_else_does_not_start() {
    for (name, imported) in REFUSED {
        let Err(error) = load(name) else {
            panic!("{name} starts");
        };
        let text = format!("{error:#}");
        assert!(text.contains(imported), "{name}: {text}");
    }
}

#[test]
fn what_imports_nothing_else_starts() {
    assert!(load("granted").is_ok());
}

#[test]
fn every_component_of_the_folder_is_tried() {
    let mut tried: Vec<&str> = REFUSED.iter().map(|(name, _)| *name).collect();
    tried.push("granted");
    tried.sort_unstable();
    let built: Vec<&str> = IMPORTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(built, tried);
}
