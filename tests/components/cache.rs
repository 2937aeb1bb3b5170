//! The cache of compiled code: taken from it is what was put there, by this
//! user, in full; anything else is compiled anew and never run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::built::count_words;
use crate::harness::{Launch, NOBODY, Root, superuser};
use crate::{answer, ask, serving};

const COMPILED: &str = "compiled in";
const PUT: &str = "and put into the cache";
const TAKEN: &str = "component: taken from the cache";

fn world() -> Root {
    Root::new().file("a.txt", "one two\n")
}

/// Serves with this cache, calls the tool, and returns what was said of it.
fn session(root: &Root, cache: &Path) -> String {
    spoken(serving(root, count_words()).with(|command| command.env("XDG_CACHE_HOME", cache)))
}

fn spoken(launch: Launch) -> String {
    let mut server = launch.args(["-v"]).start();
    let counted = ask(&mut server, "count_words", json!({"path": "a.txt"}));
    assert_eq!(answer(&counted)["words"], 2);
    let (_, exit) = server.finish();
    assert_eq!(exit.code, Some(0));
    let lines = exit
        .stderr
        .lines()
        .filter(|line| line.contains("component:"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The directory below `cache` in which the files are.
fn directory(cache: &Path) -> PathBuf {
    let ours = cache.join("preopen-mcp");
    let [only] = names(&ours).try_into().expect("one directory");
    ours.join::<String>(only)
}

/// The one file below `cache`.
fn file(cache: &Path) -> PathBuf {
    let [only] = names(&directory(cache)).try_into().expect("one file");
    directory(cache).join::<String>(only)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Fails unless the code was compiled, for this reason, and the next start
/// finds it in the cache.
fn compiled_anew(root: &Root, cache: &Path, why: &str) {
    let said = session(root, cache);
    assert!(said.contains(why) && said.contains(COMPILED), "{said}");
    assert!(!said.contains(TAKEN), "{said}");
    let said = session(root, cache);
    assert!(said.contains(TAKEN), "{said}");
}

#[test]
fn the_second_start_takes_the_code_from_the_cache() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    let first = session(&root, cache);
    assert!(first.contains(COMPILED) && first.contains(PUT), "{first}");
    assert_eq!(mode(&directory(cache)), 0o700);
    assert_eq!(mode(&file(cache)), 0o600);
    let kept = fs::metadata(file(cache)).unwrap();
    let second = session(&root, cache);
    assert!(
        second.contains(TAKEN) && !second.contains(COMPILED),
        "{second}"
    );
    let same = fs::metadata(file(cache)).unwrap();
    assert_eq!(same.modified().unwrap(), kept.modified().unwrap());
}

#[test]
fn damaged_code_is_not_run() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    let whole = fs::read(file(cache)).unwrap();
    let mut turned = whole.clone();
    turned[whole.len() / 2] ^= 1;
    let mut longer = whole.clone();
    longer.push(0);
    for damaged in [
        &turned,
        &longer,
        &whole[..whole.len() - 1].to_vec(),
        &Vec::new(),
    ] {
        fs::write(file(cache), damaged).unwrap();
        compiled_anew(&root, cache, "it is damaged");
        assert_eq!(fs::read(file(cache)).unwrap(), whole);
    }
}

#[test]
fn code_of_another_component_is_not_run() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    let ours = file(cache);
    // The same component to look at, and another to whoever compares bytes.
    let mut wasm = fs::read(count_words()).unwrap();
    wasm.extend([0, 2, 1, b'x']);
    let other = root.outside("other.wasm");
    fs::write(&other, wasm).unwrap();
    let serve =
        || spoken(serving(&root, &other).with(|command| command.env("XDG_CACHE_HOME", cache)));
    assert!(serve().contains(COMPILED));
    let both = names(&directory(cache));
    assert_eq!(both.len(), 2);
    for name in both {
        let path = directory(cache).join(name);
        if path != ours {
            fs::copy(&ours, path).unwrap();
        }
    }
    let said = serve();
    assert!(
        said.contains("it is damaged") && said.contains(COMPILED),
        "{said}"
    );
}

#[test]
fn a_file_that_others_can_write_is_not_run() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    for bits in [0o620, 0o602] {
        set_mode(&file(cache), bits);
        compiled_anew(&root, cache, "others can write to it");
        assert_eq!(mode(&file(cache)), 0o600);
    }
}

#[test]
fn a_link_is_not_followed() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    let elsewhere = root.outside("code");
    fs::rename(file(cache), &elsewhere).unwrap();
    let name = names(&directory(cache));
    assert!(name.is_empty());
    session(&root, cache);
    let place = file(cache);
    fs::remove_file(&place).unwrap();
    symlink(&elsewhere, &place).unwrap();
    compiled_anew(&root, cache, "not from the cache");
    assert!(fs::symlink_metadata(&place).unwrap().is_file());
}

#[test]
fn a_directory_that_others_can_write_is_not_used() {
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    for path in [directory(cache), cache.join("preopen-mcp")] {
        set_mode(&path, 0o777);
        for _ in 0..2 {
            let said = session(&root, cache);
            assert!(said.contains("others can write to it"), "{said}");
            assert!(said.contains(COMPILED) && !said.contains(PUT), "{said}");
        }
        set_mode(&path, 0o700);
        assert!(session(&root, cache).contains(TAKEN));
    }
}

#[test]
fn what_belongs_to_somebody_else_is_not_run() {
    if !superuser("what_belongs_to_somebody_else_is_not_run") {
        return;
    }
    let (root, cache) = (world(), tempfile::tempdir().unwrap());
    let cache = cache.path();
    session(&root, cache);
    chown(file(cache), Some(NOBODY), None).unwrap();
    compiled_anew(&root, cache, "it belongs to somebody else");
    chown(directory(cache), Some(NOBODY), None).unwrap();
    let said = session(&root, cache);
    assert!(said.contains("it belongs to somebody else"), "{said}");
    assert!(said.contains(COMPILED) && !said.contains(PUT), "{said}");
}

#[test]
fn a_cache_in_the_root_is_not_used() {
    let root = world().dir("cache");
    let before = root.census();
    for cache in [root.path(), root.at("cache"), root.at("cache/deep/er")] {
        let said = session(&root, &cache);
        assert!(said.contains("lies in the root"), "{said}");
        assert!(said.contains(COMPILED) && !said.contains(PUT), "{said}");
    }
    assert_eq!(root.census(), before);
}

#[test]
fn without_a_place_for_it_there_is_no_cache() {
    let root = world();
    // Relative paths do not count.
    let said = spoken(serving(&root, count_words()).with(|command| {
        command
            .env("HOME", "relative")
            .env("XDG_CACHE_HOME", "relative")
    }));
    assert!(
        said.contains("no cache") && said.contains(COMPILED),
        "{said}"
    );
    assert!(!said.contains(PUT), "{said}");
}

/// Whoever serves the directory above it serves nothing of it: code that a
/// client or a component could write there would be run.
#[test]
fn no_tool_reaches_the_cache() {
    let root = world();
    let other = world();
    session(&other, &root.path());
    let kept = file(&root.path());
    let code = fs::read(&kept).unwrap();
    let kept = kept.strip_prefix(root.path()).unwrap().to_str().unwrap();
    let directory = kept.rsplit_once('/').unwrap().0;
    let mut server = Launch::new(&root).args(["--toolset", "all"]).start();
    for path in [kept, directory, &format!("{directory}/new")] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path, "binary": true})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("delete_file", json!({"path": path})),
            ("create_directory", json!({"path": path})),
            ("delete_directory", json!({"path": path, "force": true})),
        ] {
            server.call(tool, arguments).refused_naming(&["this root"]);
        }
    }
    server
        .call(
            "delete_directory",
            json!({"path": "preopen-mcp", "force": true}),
        )
        .refused_naming(&["hide something"]);
    server.close();
    assert_eq!(fs::read(root.at(kept)).unwrap(), code);
}
