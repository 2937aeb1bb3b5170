//! What its tools answer, where they do.

use std::sync::atomic::{AtomicU32, Ordering};

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use crate::bindings::exports::preopen::mcp::tools::{CallError, ToolResult};

/// Its tools, and whether they say that they only read.
pub(crate) const TOOLS: [(&str, bool); 16] = [
    ("panics", true),
    ("spins", true),
    ("eats", true),
    ("exits", true),
    ("answers-no-json", true),
    ("answers-two-values", true),
    ("answers-a-list", true),
    ("answers-deep", true),
    ("answers-lines", true),
    ("answers-much", true),
    ("knows-no-tool", true),
    ("counts", true),
    ("keeps", true),
    ("looks-around", true),
    ("writes-and-says-it-reads", true),
    ("writes", false),
];

/// Calls of this instance so far.
static CALLS: AtomicU32 = AtomicU32::new(0);

pub(crate) fn of(name: &str, arguments: &str) -> Result<ToolResult, CallError> {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let structured = match name {
        "panics" => panic!("it was asked to"),
        "spins" => crate::spin(),
        "eats" => crate::eat(),
        "exits" => std::process::exit(0),
        "answers-no-json" => "{\"a\":".to_owned(),
        "answers-two-values" => "{}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".to_owned(),
        "answers-a-list" => "[]".to_owned(),
        "answers-deep" => format!("{{\"a\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000)),
        "answers-lines" => "{\r\n\"b\": 1,\n\"a\": \"x\u{2028}y\"\n}".to_owned(),
        "answers-much" => format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20)),
        "knows-no-tool" => return Err(CallError::UnknownTool),
        "counts" | "keeps" => format!("{{\"calls\":{calls}}}"),
        "looks-around" => around(),
        "writes-and-says-it-reads" | "writes" => wrote(),
        // What is not listed is never called.
        _ => format!("{{\"unlisted\":{name:?}}}"),
    };
    Ok(ToolResult {
        structured: Some(structured),
        text: None,
        is_error: false,
        // Whatever the next call is, it would like to be there for it.
        kept_for: (name == "keeps").then(|| arguments.to_owned()),
        unhashed: None,
    })
}

/// What there is beside the files of the root: nothing.
fn around() -> String {
    let opened: Vec<&str> = [
        "/etc/passwd",
        "../outside/secret.txt",
        "/proc/self/environ",
        "link",
    ]
    .into_iter()
    .filter(|path| open(path, OpenFlags::empty(), DescriptorFlags::READ).is_ok())
    .collect();
    format!(
        "{{\"environment\":{},\"arguments\":{},\"opened\":{opened:?}}}",
        std::env::vars().count(),
        std::env::args().count(),
    )
}

fn wrote() -> String {
    let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    let written = open("written.txt", flags, DescriptorFlags::WRITE).and_then(|file| {
        file.write(b"by the component", 0)?;
        // Until then the host takes it for one that was not finished.
        file.sync()
    });
    format!("{{\"written\":{}}}", written.is_ok())
}

fn open(path: &str, open: OpenFlags, rights: DescriptorFlags) -> Result<Descriptor, ErrorCode> {
    match get_directories().first() {
        Some((root, _)) => root.open_at(PathFlags::empty(), path, open, rights),
        None => Err(ErrorCode::NoEntry),
    }
}
