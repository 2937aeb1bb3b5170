//! What is not served: the program ends with status 64 and one line that names
//! the flag and says why.

use std::fs;
use std::path::Path;

use crate::built::{self, count_words};
use crate::harness::{Root, make_pipe};
use crate::serving;

/// What a server says that does not start.
fn said(root: &Root, file: &Path) -> String {
    let exit = serving(root, file).spawn().wait();
    assert_eq!(exit.code, Some(64), "{}", exit.stderr);
    assert_eq!(exit.stdout, b"");
    let line = exit.stderr.strip_suffix('\n').expect("a line");
    assert!(!line.contains('\n'), "not one line: {line}");
    let said = line.strip_prefix("preopen-mcp: --component: ");
    said.unwrap_or_else(|| panic!("the flag is missing: {line}"))
        .to_owned()
}

/// What is said of a file with this content.
fn said_of(content: &[u8]) -> String {
    let root = Root::new();
    let file = root.outside("component.wasm");
    fs::write(&file, content).unwrap();
    said(&root, &file)
}

#[test]
fn what_cannot_be_read() {
    let root = Root::new();
    let missing = said(&root, &root.outside("none.wasm"));
    assert!(
        missing.starts_with("cannot read ") && missing.contains("none.wasm"),
        "{missing}"
    );
    make_pipe(&root.outside("pipe"));
    for other in [root.outside("pipe"), root.path(), "/dev/zero".into()] {
        let other = said(&root, &other);
        assert!(other.ends_with("it is not a regular file"), "{other}");
    }
}

#[test]
fn what_is_no_component() {
    for content in [&b""[..], b"\0asm", b"count the words", b"(component)"] {
        assert_eq!(said_of(content), "it is not a WebAssembly component");
    }
    assert_eq!(
        said_of(b"\0asm\x01\0\0\0"),
        "it is a WebAssembly module and not a component; build it for wasm32-wasip2"
    );
}

#[test]
fn what_is_cut_short_or_damaged() {
    let whole = fs::read(count_words()).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..][..64].fill(0xff);
    for content in [&whole[..whole.len() / 2], &damaged] {
        let said = said_of(content);
        assert!(said.starts_with("it cannot be compiled: "), "{said}");
    }
}

#[test]
fn what_imports_something_that_is_not_granted() {
    for import in [
        "wasi:sockets/tcp-create-socket@0.2.0",
        "wasi:http/outgoing-handler@0.2.0",
        "preopen:mcp/host@0.1.0",
    ] {
        let said = said_of(&built::importing(import));
        let name = import.split('@').next().unwrap();
        assert!(said.contains(name), "{import}: {said}");
    }
}

#[test]
fn what_does_not_export_the_tools() {
    for content in [
        built::component(&[]),
        built::exporting("preopen:mcp/other@0.1.0"),
        built::exporting("preopen:mcp/tools@0.2.0"),
        built::exporting("preopen:mcp/tools@1.0.0"),
    ] {
        let said = said_of(&content);
        assert!(said.contains("preopen:mcp/tools@0.1"), "{said}");
    }
    let said = said_of(&built::exporting("preopen:mcp/tools@0.1.0"));
    assert!(said.contains("list-tools"), "{said}");
    let said = said_of(&built::exporting_other_functions());
    assert!(said.contains("type mismatch"), "{said}");
}
