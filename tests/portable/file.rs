//! The file that `preopen-mcp guest` writes.

use wasmparser::{ComponentExternalKind, Parser, Payload, Validator, WasmFeatures};

use super::wasmtime::component;

/// What the file may have at most, in bytes.
const MAX_BYTES: usize = 1_500_000;

/// The interfaces that the component itself, not a part of it, imports and exports.
fn interfaces(file: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(file) {
        match payload.expect("well formed") {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(import.expect("an import").name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let export = export.expect("an export");
                    assert_eq!(export.kind, ComponentExternalKind::Instance);
                    exports.push(export.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    (imports, exports)
}

#[test]
fn it_is_valid_small_and_complete() {
    let file = std::fs::read(component("valid")).unwrap();
    assert!(file.len() < MAX_BYTES, "{} bytes", file.len());
    let features = WasmFeatures::WASM2 | WasmFeatures::COMPONENT_MODEL;
    Validator::new_with_features(features)
        .validate_all(&file)
        .expect("valid");

    let (imports, exports) = interfaces(&file);
    let mut exports: Vec<&str> = exports
        .iter()
        .map(|name| name.split('@').next().unwrap_or(name))
        .collect();
    exports.sort_unstable();
    assert_eq!(exports, ["preopen:mcp/tools", "wasi:cli/run"]);

    let granted = ["cli", "clocks", "filesystem", "io", "random"];
    for import in &imports {
        let (interface, version) = import.split_once('@').expect("a version");
        let package = interface
            .strip_prefix("wasi:")
            .and_then(|rest| rest.split('/').next());
        assert!(
            package.is_some_and(|package| granted.contains(&package)),
            "{import}"
        );
        assert!(version.starts_with("0.2."), "{import}");
    }
    assert!(
        imports
            .iter()
            .any(|import| import.starts_with("wasi:filesystem/types@"))
    );
}
