//! The component is the same to the byte wherever it is built: in other folders,
//! with the packages it depends on elsewhere too. Builds it twice from nothing,
//! which takes a minute, so it runs when asked for:
//! `cargo test --test reproducible -- --ignored`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

#[path = "../host/build/component.rs"]
#[allow(unreachable_pub)]
mod component;

const PACKAGE: &str = "preopen-guest";

/// What a checkout has beside the sources.
const LEFT_OUT: [&str; 5] = [".git", ".venv", "fuzz", "node_modules", "target"];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}

/// Another home of cargo, that holds the same packages.
fn other_home(at: &Path) {
    let real = component::home();
    fs::create_dir_all(at).unwrap();
    for name in ["registry", "config.toml"] {
        if real.join(name).exists() {
            symlink(real.join(name), at.join(name)).unwrap();
        }
    }
}

fn embedded() -> Vec<u8> {
    let program = env!("CARGO_BIN_EXE_preopen-mcp");
    let printed = Command::new(program).arg("guest").output().unwrap();
    assert!(printed.status.success());
    printed.stdout
}

#[test]
#[ignore = "builds the component twice"]
fn two_clean_builds_in_different_folders_give_the_embedded_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // At the same time: a build seldom keeps two cores busy.
    let builds: Vec<_> = ["a", "another folder/with a longer name"]
        .iter()
        .map(|name| {
            let at = folder.path().join(name);
            copy(sources, &at.join("sources"));
            let (home, target) = (at.join("home"), at.join("target"));
            other_home(&home);
            let child = component::component(&at.join("sources"), &home, PACKAGE, &target)
                .arg("--offline")
                .spawn()
                .unwrap();
            (child, component::built(PACKAGE, &target))
        })
        .collect();
    let embedded = embedded();
    for (mut child, file) in builds {
        assert!(child.wait().unwrap().success());
        assert!(
            fs::read(&file).unwrap() == embedded,
            "{} differs",
            file.display()
        );
    }
}

#[test]
fn the_component_names_no_folder_of_the_machine_that_built_it() {
    let embedded = embedded();
    let home = component::home();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for folder in [home.as_path(), sources] {
        let name = folder.to_str().unwrap().as_bytes();
        assert!(
            !embedded.windows(name.len()).any(|found| found == name),
            "{} is named",
            folder.display()
        );
    }
}
