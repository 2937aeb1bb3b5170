//! What it lists: its tools, or what is no list of tools.

use crate::answers::TOOLS;

/// The list by this name; the real one by every other.
pub(crate) fn of(name: &str) -> String {
    let tool = |name: &str| definition(name, true);
    match name {
        "list-panics" => panic!("it was asked to"),
        "list-spins" => crate::spin(),
        "list-eats" => crate::eat(),
        "list-no-json" => "[{".to_owned(),
        "list-object" => "{}".to_owned(),
        "list-numbers" => "[1, 2]".to_owned(),
        "list-nameless" => "[{\"inputSchema\":{\"type\":\"object\"}}]".to_owned(),
        "list-odd-name" => format!("[{}]", tool("two words")),
        "list-twice" => format!("[{0},{0}]", tool("twice")),
        "list-no-schema" => "[{\"name\":\"bare\"}]".to_owned(),
        "list-odd-output" => {
            "[{\"name\":\"odd\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"string\"}}]".to_owned()
        }
        "list-long" => format!("[{}]", tool(&"x".repeat(2 << 20))),
        "list-lines" => {
            "[\n{\n\"name\": \"list-lines\",\r\n\"description\": \"a\u{2028}b\",\n\"inputSchema\": {\"type\": \"object\"} } ]\n".to_owned()
        }
        _ => everything(),
    }
}

/// Every tool, whatever the operator chose.
fn everything() -> String {
    let definitions: Vec<String> = TOOLS
        .iter()
        .map(|(name, reads)| definition(name, *reads))
        .collect();
    format!("[{}]", definitions.join(","))
}

fn definition(name: &str, reads: bool) -> String {
    format!(
        "{{\"name\":\"{name}\",\"description\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}},\"annotations\":{{\"readOnlyHint\":{reads}}}}}"
    )
}
