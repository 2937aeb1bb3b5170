//! Generated spellings of paths.

use preopen_contract::path::MAX_PATH_BYTES;
use proptest::prelude::*;

use super::path;

/// A piece of a path; the long ones lie around the bound.
fn piece() -> impl Strategy<Value = String> {
    let long = (MAX_PATH_BYTES - 6..MAX_PATH_BYTES + 3).prop_map(|length| "n".repeat(length));
    prop_oneof![8 => "[aC:./\\\\\0é]{0,4}", 1 => ".{0,8}", 1 => long]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_spelling_is_read_as_its_model_reads_it(pieces in prop::collection::vec(piece(), 0..6)) {
        path::check(&pieces.join("/"));
    }
}
