//! Every input in `fuzz/seeds` once more.

use std::fs;
use std::path::Path;

use super::{message, policy};

fn each(target: &str, check: impl Fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let files = fs::read_dir(seeds.join(target)).expect("a directory of seeds");
    let mut count = 0;
    for file in files {
        check(&fs::read(file.expect("an entry").path()).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "no seeds for {target}");
}

#[test]
fn the_seeds_of_messages_hold() {
    each("message", message::check);
}

#[test]
fn the_seeds_of_policies_hold() {
    each("policy", policy::check);
}
