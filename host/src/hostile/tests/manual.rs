//! The manual's tables of attempts, made from the tables that the other tests
//! hold the code to: compared with docs/confinement.md, or written there when
//! `PREOPEN_UPDATE_DOCS` is set.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::native::NATIVE;
use crate::hostile::{EXPECTED, Ends};
use crate::layer::Layer;

fn list(layers: &[Layer]) -> String {
    match layers {
        [] => "-".to_owned(),
        layers => layers
            .iter()
            .map(Layer::to_string)
            .collect::<Vec<_>>()
            .join("; "),
    }
}

fn attempts() -> String {
    let mut table = String::from(
        "| attempt | ends | stopped first by | gets something without | leaves the root without any layer |\n|---|---|---|---|---|\n",
    );
    for row in EXPECTED {
        let ends = match row.ends {
            Ends::Refused(codes) => format!("refused: {codes}"),
            Ends::Harmless => "nothing of use".to_owned(),
            Ends::Exhausted => "out of handles or time".to_owned(),
            Ends::TimedOut => "out of time".to_owned(),
            Ends::OutOfMemory => "out of memory".to_owned(),
            Ends::Trapped => "its instance ended".to_owned(),
        };
        let escapes = if row.escapes { "yes" } else { "-" };
        let needs = list(row.needs);
        let _ = writeln!(
            table,
            "| `{}` | {ends} | {} | {needs} | {escapes} |",
            row.name, row.layer
        );
    }
    table
}

fn native() -> String {
    let mut table = String::from("| machine code tries to | stopped by |\n|---|---|\n");
    for row in NATIVE {
        let _ = writeln!(table, "| {} | {} |", row.what, list(row.by));
    }
    table
}

/// `text` with `table` in place of the one that begins with the same line.
fn with(text: &str, table: &str) -> String {
    let header = table.lines().next().unwrap();
    let start = text
        .find(header)
        .unwrap_or_else(|| panic!("no table {header:?} in the manual"));
    let length: usize = text[start..]
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('|'))
        .map(str::len)
        .sum();
    format!("{}{table}{}", &text[..start], &text[start + length..])
}

#[test]
fn the_manual_has_the_tables_that_the_tests_hold_the_code_to() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/confinement.md");
    let written = fs::read_to_string(&file).unwrap();
    let made = with(&with(&written, &attempts()), &native());
    if std::env::var_os("PREOPEN_UPDATE_DOCS").is_some() {
        fs::write(&file, made).unwrap();
    } else {
        assert!(
            made == written,
            "docs/confinement.md is out of date; PREOPEN_UPDATE_DOCS=1 writes its tables"
        );
    }
}
