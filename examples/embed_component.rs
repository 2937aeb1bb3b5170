//! The component in a plain wasmtime: writes, searches, reads and tries to get out. Run it with
//! `cargo run --features compiler --example embed_component -- COMPONENT DIR`
#![allow(missing_docs)] // what is generated has none

use exports::preopen::mcp::tools::{Limits, Rules, Settings, Toolset, WriteMode};
use serde_json::{Value, json};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Error, Result, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};
wasmtime::component::bindgen!({ path: "../wit", world: "guest" });

struct State(WasiCtx, ResourceTable);

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self(ctx, table) = self;
        WasiCtxView { ctx, table }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [component, directory] = arguments.as_slice() else {
        return Err(Error::msg("usage: embed_component COMPONENT DIR"));
    };
    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    let component = linker.instantiate_pre(&Component::from_file(&engine, component)?)?;
    let guest = GuestPre::new(component)?;
    // A new instance has one directory and nothing else, also nothing of an earlier call.
    let instance = || -> Result<(Store<State>, Guest)> {
        let mut wasi = WasiCtx::builder();
        wasi.preopened_dir(directory, "/", FsPerms::ReadWrite)?;
        let mut store = Store::new(&engine, State(wasi.build(), ResourceTable::new()));
        let instance = guest.instantiate(&mut store)?;
        Ok((store, instance))
    };
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(Error::msg)?;
    #[rustfmt::skip]
    let settings = Settings {
        toolset: Toolset::Core, only: vec![], read_only: false, write_mode: WriteMode::Replace,
        limits: Limits { max_file_bytes: 100 << 20, max_write_bytes: 64 << 10,
            max_result_bytes: 48_000, max_scan_bytes: 64 << 20, max_entries: 1_000_000,
            max_depth: 64, call_timeout: 30_000 },
        cursor_key: key.to_vec(), hash_key: None, root_writable: true, files_unchanged: false,
        host_hashes: false,
        rules: Some(Rules { include: vec!["**".into()], exclude: vec![], allow_blocked: false }),
    };
    let call = |tool: &str, arguments: Value| -> Result<(bool, String)> {
        let ((mut store, guest), json) = (instance()?, arguments.to_string());
        let tools = guest.preopen_mcp_tools();
        let answer = tools.call_call_tool(&mut store, &settings, tool, &json)??;
        let text = answer.text.or(answer.structured);
        Ok((answer.is_error, text.unwrap_or_default()))
    };
    let (mut store, guest) = instance()?;
    let tools = guest.preopen_mcp_tools();
    let listed: Value = serde_json::from_str(&tools.call_list_tools(&mut store, &settings)?)?;
    for tool in listed.as_array().into_iter().flatten() {
        println!("tool: {}", tool["name"].as_str().unwrap_or_default());
    }
    let content = "one capability\nheld as a handle\nand no other capability\n";
    let arguments = json!({"path": "notes.txt", "content": content});
    println!("written: {}", call("write_text_file", arguments)?.1);
    let mut cursor = Some(Value::Null); // that of one page asks for the next
    while let Some(at) = cursor {
        let search = json!({"query": "capability", "limit": 1, "cursor": at});
        let page: Value = serde_json::from_str(&call("search_text", search)?.1)?;
        println!("found: {}", page["items"][0]["text"]);
        cursor = Some(page["next_cursor"].clone()).filter(Value::is_string);
    }
    for path in ["notes.txt", "../outside.txt", "link.txt", "here/notes.txt"] {
        let (refused, text) = call("read_text_file", json!({"path": path}))?;
        println!("{} {text}", if refused { "refused:" } else { "read:" });
    }
    Ok(())
}
