//! A component with the interface of the tools and none of their manners. What
//! it lists follows the names that `--tools` has; what it answers, the tool.

// Not `forbid`: the exports that wit-bindgen generates are unsafe functions, and nothing else is.
#![deny(unsafe_code)]

mod answers;
mod lists;

/// The bindings of `wit/preopen-mcp.wit`.
mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "guest" });
}

use bindings::exports::preopen::mcp::tools::{CallError, Guest, Settings, ToolResult};

/// What the world's exports are called on.
struct Component;

impl Guest for Component {
    fn list_tools(settings: Settings) -> String {
        lists::of(settings.only.first().map_or("", String::as_str))
    }

    fn call_tool(_: Settings, name: String, arguments: String) -> Result<ToolResult, CallError> {
        answers::of(&name, &arguments)
    }
}

/// Takes memory until there is no more.
fn eat() -> ! {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(vec![1; 1 << 20]);
    }
}

/// Never comes back.
fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// The exports themselves, generated.
#[expect(unsafe_code, reason = "the canonical ABI passes raw pointers")]
mod exports {
    use crate::{Component, bindings};

    bindings::export!(Component with_types_in bindings);
}
