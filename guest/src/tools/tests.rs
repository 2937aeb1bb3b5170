//! The definitions: which tools the settings leave, and that every schema
//! keeps the rules that clients rely on.

use preopen_contract::limits::Limits as Defaults;
use serde_json::Value;

use super::core::TOOLS as CORE;
use super::workspace::TOOLS as WORKSPACE;
use super::{Tool, definitions, find};
use crate::bindings::exports::preopen::mcp::tools::{Limits, Settings, Toolset, WriteMode};

fn settings() -> Settings {
    let limits = Defaults::core();
    Settings {
        toolset: Toolset::Core,
        only: Vec::new(),
        read_only: false,
        write_mode: WriteMode::Replace,
        limits: Limits {
            max_file_bytes: limits.max_file_bytes,
            max_write_bytes: limits.max_write_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_scan_bytes: limits.max_scan_bytes,
            max_entries: limits.max_entries,
            max_depth: limits.max_depth,
            call_timeout: limits.call_timeout,
        },
        cursor_key: vec![1; 32],
        hash_key: None,
        root_writable: true,
        files_unchanged: false,
        host_hashes: false,
        rules: None,
    }
}

fn listed(settings: &Settings) -> Vec<Value> {
    serde_json::from_str(&definitions(settings)).expect("a JSON array")
}

fn names(settings: &Settings) -> Vec<String> {
    listed(settings)
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// Every tool there is, with its definition.
fn all(mut settings: Settings) -> Vec<(Value, &'static Tool)> {
    settings.toolset = Toolset::All;
    listed(&settings)
        .into_iter()
        .zip(CORE.iter().chain(WORKSPACE))
        .collect()
}

const READING: [&str; 4] = [
    "list_directory",
    "search_files",
    "search_text",
    "read_text_file",
];

#[test]
fn the_order_is_fixed_and_settings_only_take_away() {
    let mut settings = settings();
    assert_eq!(
        names(&settings),
        [&READING[..], &["write_text_file"]].concat()
    );
    settings.read_only = true;
    assert_eq!(names(&settings), READING);
    assert!(find(&settings, "write_text_file").is_none());
    settings.only = ["write_text_file", "search_text", "list_directory"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(names(&settings), ["list_directory", "search_text"]);
    assert!(find(&settings, "read_text_file").is_none());
}

#[test]
fn the_workspace_has_its_own_order_behind_the_core() {
    let expected = [
        "read_file",
        "write_file",
        "list_files",
        "create_directory",
        "delete_file",
        "delete_directory",
        "search_in_file",
    ];
    let mut settings = settings();
    settings.toolset = Toolset::Workspace;
    assert_eq!(names(&settings), expected);
    assert!(find(&settings, "read_text_file").is_none());
    settings.toolset = Toolset::All;
    assert_eq!(names(&settings)[CORE.len()..], expected);
    settings.toolset = Toolset::Workspace;
    settings.read_only = true;
    assert_eq!(
        names(&settings),
        ["read_file", "list_files", "search_in_file"]
    );
    assert!(find(&settings, "delete_directory").is_none());
}

/// Checks the rules of schemas in `schema` and everything below it.
fn check_schema(schema: &Value, place: &str) {
    for key in ["$ref", "$defs", "$schema"] {
        assert!(schema.get(key).is_none(), "{place} has {key}");
    }
    if schema["type"] == "array" {
        check_schema(&schema["items"], &format!("{place}[]"));
        assert!(schema["items"].is_object(), "{place} has no items");
    }
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{place}");
        let properties = schema["properties"].as_object().expect("properties");
        for name in schema["required"].as_array().expect("required") {
            assert!(
                properties.contains_key(name.as_str().expect("a name")),
                "{place}"
            );
        }
        for (name, property) in properties {
            let place = format!("{place}.{name}");
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{place}"
            );
            check_schema(property, &place);
        }
    }
}

#[test]
fn schemas_keep_the_rules_and_name_every_argument() {
    let definitions = all(settings());
    assert_eq!(definitions.len(), CORE.len() + WORKSPACE.len());
    for (definition, tool) in definitions {
        assert_eq!(definition["name"], tool.name);
        for part in ["inputSchema", "outputSchema"] {
            // A long text is not given twice: it has no structured form.
            if (part, tool.name) == ("outputSchema", "read_file") {
                assert!(definition.get(part).is_none());
                continue;
            }
            assert_eq!(definition[part]["type"], "object");
            check_schema(&definition[part], &format!("{} {part}", tool.name));
        }
        let mut described: Vec<&str> = definition["inputSchema"]["properties"]
            .as_object()
            .expect("properties")
            .keys()
            .map(String::as_str)
            .collect();
        let mut taken = tool.arguments.to_vec();
        described.sort_unstable();
        taken.sort_unstable();
        assert_eq!(described, taken, "{}", tool.name);
        for text in ["title", "description"] {
            assert!(definition[text].is_string());
        }
    }
}

#[test]
fn annotations_tell_the_truth() {
    let mut settings = settings();
    for (mode, destroys) in [(WriteMode::Replace, true), (WriteMode::CreateNew, false)] {
        settings.write_mode = mode;
        for (definition, tool) in all(settings.clone()) {
            let hints = &definition["annotations"];
            let destroys = match tool.name {
                "create_directory" => false,
                "delete_file" | "delete_directory" => true,
                _ => tool.writes && destroys,
            };
            assert_eq!(hints["readOnlyHint"], !tool.writes);
            assert_eq!(hints["destructiveHint"], destroys, "{}", tool.name);
            assert_eq!(hints["idempotentHint"], true);
            assert_eq!(hints["openWorldHint"], false);
        }
    }
}

#[test]
fn limits_that_are_set_stand_in_the_definitions() {
    let mut settings = settings();
    settings.limits.max_write_bytes = 12_345;
    settings.limits.max_file_bytes = 3 << 20;
    let text = definitions(&settings);
    assert!(text.contains("at most 12345 bytes") && text.contains("at most 3MiB"));
}
