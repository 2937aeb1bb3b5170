//! The component on its own, as its file is: what it imports and exports, and
//! what holds under a host that is not ours beside what every other test holds
//! it to (see portable_suite.rs).

pub(crate) mod skipped;
pub(crate) mod wasmtime;

use skipped::SKIPPED;

#[test]
fn the_manual_gives_every_reason_for_which_a_test_is_skipped() {
    let manual = include_str!("../../docs/portability.md");
    for (reason, tests) in SKIPPED {
        assert!(manual.contains(reason), "docs/portability.md: {reason}");
        for test in *tests {
            let test = test.trim_end_matches("::");
            assert!(
                manual.contains(&format!("`{test}`")),
                "docs/portability.md: {test}"
            );
        }
    }
}
