//! Sequences of file operations, as a component could make them, on a real
//! directory and on a model of it in memory: every answer, and everything that
//! is there afterwards, must be the same. The tests and the fuzzer check this
//! very code.

mod model;
mod operation;
mod real;
mod tree;

#[path = "../../../../fuzz/properties/choices.rs"]
mod choices;

use std::collections::BTreeMap;

use preopen_contract::policy::Policy;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{DescriptorFlags, DescriptorType};

use choices::Choices;
use model::Model;
use operation::Operation;
use real::Real;

/// How many operations a sequence has at most.
const MOST: usize = 64;

/// What an operation gives.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    Nothing,
    Read(Vec<u8>, bool),
    Wrote(u64),
    Listed(BTreeMap<String, DescriptorType>),
    /// The kind and, of a file, the size.
    Described(DescriptorType, Option<u64>),
    Rights(DescriptorFlags),
    Same(bool),
}

type Answer = Result<Given, ErrorCode>;

/// What reading a directory gives, of what listing it gives: it does not tell
/// of what sort the other entries are.
fn in_brief(listed: Given) -> Given {
    let Given::Listed(mut entries) = listed else {
        return listed;
    };
    for kind in entries.values_mut() {
        if !matches!(
            kind,
            DescriptorType::RegularFile | DescriptorType::Directory
        ) {
            *kind = DescriptorType::Unknown;
        }
    }
    Given::Listed(entries)
}

/// What is served, of which `hidden` never is anything.
const POLICIES: [(&[&str], &[&str]); 4] = [
    (&["**/*.txt"], &["hidden/**"]),
    (&["**"], &["hidden", "**/b.txt"]),
    (&["d/**", "a.txt"], &["d/e/**", "hidden"]),
    (&["*.txt", "*/e/*"], &["**/hidden", "dir.txt/a.txt"]),
];

/// Makes the operations that `data` chooses.
pub(crate) fn check(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (include, exclude) = POLICIES[choices.below(POLICIES.len())];
    let policy = || Policy::new(include, exclude).expect("well-formed patterns");
    let writable = choices.below(8) != 7;

    let mut real = Real::new(policy(), writable);
    let mut model = Model::new(policy(), writable);
    let outside = real.outside();
    let hidden = |picture: &BTreeMap<String, String>| -> Vec<_> {
        let of_it = |(path, holds): (&String, &String)| {
            path.starts_with("hidden")
                .then(|| (path.clone(), holds.clone()))
        };
        picture.iter().filter_map(of_it).collect()
    };
    let before = hidden(&real.picture());
    assert_eq!(real.picture(), model.picture(), "at the beginning");

    let mut made = Vec::new();
    for _ in 0..MOST {
        if choices.is_empty() {
            break;
        }
        let operation = Operation::choose(&mut choices);
        // One instance with temporaries in two directories may wait for itself,
        // for as long as it would for another process.
        if model.waits(&operation) {
            continue;
        }
        let expected = model.answer(&operation);
        if operation.is_a_call() {
            let given = real.answer(&operation);
            made.push(operation);
            assert_eq!(given, expected, "the last of {made:#?}");
        } else if expected.is_ok() {
            real.others(&operation);
            made.push(operation);
        }
    }
    real.close();
    model.close();
    let picture = real.picture();
    assert_eq!(picture, model.picture(), "after {made:#?}");
    assert_eq!(hidden(&picture), before, "what is hidden, after {made:#?}");
    assert_eq!(real.outside(), outside, "what is outside, after {made:#?}");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::check;
    use crate::confine::forced;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_answer_is_that_of_the_model(choices in prop::collection::vec(any::<u8>(), 0..400)) {
            check(&choices);
        }

        #[test]
        fn so_it_is_where_paths_are_walked_name_by_name(choices in prop::collection::vec(any::<u8>(), 0..400)) {
            forced(|| check(&choices));
        }
    }

    #[test]
    fn the_seeds_of_the_fuzzer_hold() {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/confine");
        let seeds: Vec<_> = fs::read_dir(seeds).expect("a directory of seeds").collect();
        assert!(!seeds.is_empty());
        for seed in seeds {
            check(&fs::read(seed.expect("an entry").path()).expect("a seed"));
        }
    }
}
