//! The policy against a second implementation that is slow and obvious, and
//! against another glob library, over generated patterns and paths.

use globset::GlobBuilder;
use preopen_contract::policy::{Policy, Verdict};
use proptest::prelude::*;

use super::policy::Rules;

/// A segment of plain pieces; `**` and malformed ones come up, too.
fn segment(letters: &'static [&'static str]) -> impl Strategy<Value = String> {
    let wild = prop::sample::select(&["*", "?", "[!a]", "[a]", "[a-b]", "[*]", "[!b]"][..]);
    let choice = prop::sample::select(&["{a,b}", "{,a}", "{a/b,*}", "{b,{a,?}b}", "{a,b/}"][..]);
    let piece = prop_oneof![6 => prop::sample::select(letters), 4 => wild, 1 => choice];
    let joined = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
    prop_oneof![2 => Just("**".to_owned()), 1 => Just("*".to_owned()), 5 => joined]
}

fn pattern(letters: &'static [&'static str]) -> impl Strategy<Value = String> {
    let end = prop_oneof![5 => Just(""), 1 => Just("/"), 1 => Just("/**")];
    (prop::collection::vec(segment(letters), 1..5), end)
        .prop_map(|(segments, end)| segments.join("/") + end)
}

fn path() -> impl Strategy<Value = String> {
    let reserved = ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp";
    let name = prop::collection::vec(prop::sample::select(&["a", "b", ".", "é", "*"][..]), 1..4)
        .prop_map(|letters| letters.concat())
        .prop_map(|name| {
            if matches!(&*name, "." | "..") {
                name + ".a"
            } else {
                name
            }
        });
    let blocked = prop::sample::select(&["hosts", "a.eXe", ".ENV", "so", "a.so.b"][..])
        .prop_map(str::to_owned);
    let name = prop_oneof![60 => name, 6 => blocked, 40 => Just("a".to_owned()), 1 => Just(reserved.to_owned())];
    prop::collection::vec(name, 1..6).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_policy_is_its_model(
        include in prop::collection::vec(pattern(&["a", "b", ".", "é"]), 1..3),
        exclude in prop::collection::vec(pattern(&["a", "b", ".", "é"]), 0..3),
        blocks: bool,
        paths in prop::collection::vec(path(), 1..8),
    ) {
        Rules { include, exclude, blocks }.agree(&paths);
    }

    #[test]
    fn any_text_as_a_pattern_is_its_model(
        include in prop::collection::vec("[ab.*?!^:,/é{}\\[\\]-]{1,8}", 1..3),
        exclude in prop::collection::vec("[ab*{},/]{1,6}", 0..2),
        paths in prop::collection::vec(path(), 1..8),
    ) {
        Rules { include, exclude, blocks: false }.agree(&paths);
    }

    #[test]
    fn plain_patterns_mean_what_another_library_takes_them_for(
        pattern in pattern(&["a", "b", "."]),
        paths in prop::collection::vec(path(), 1..8),
    ) {
        let Ok(rules) = Policy::new(&[&pattern], &[]) else { return Ok(()) };
        let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern };
        // It does not know the slash at the end, here of a choice.
        if ["/}", "/,", "/{,"].iter().any(|slash| whole.contains(slash)) {
            return Ok(());
        }
        let other = GlobBuilder::new(&whole)
            .literal_separator(true)
            .backslash_escape(false)
            .empty_alternates(true)
            .build()
            .expect("a glob")
            .compile_matcher();
        for path in paths.iter().filter(|path| path.is_ascii() && !path.contains("preopen")) {
            prop_assert_eq!(rules.file(path) == Verdict::Served, other.is_match(path), "{}", path);
        }
    }
}

/// Many `**` and many `*` in the worst order: an implementation that tries
/// every combination does not come back from this.
#[test]
fn many_wildcards_are_answered_at_once() {
    let deep = "**/a/".repeat(200) + "b";
    let stars = "*a".repeat(400) + "b";
    let policy = Policy::new(&[&deep, &stars], &[&format!("{deep}/c")]).expect("well-formed");
    let path = "a/".repeat(500) + "c";
    assert_eq!(policy.file(&path), Verdict::NotIncluded);
    assert_eq!(policy.directory(&path), Verdict::Served);
    assert_eq!(policy.file(&"a".repeat(1000)), Verdict::NotIncluded);
    assert_eq!(policy.file(&("a/".repeat(500) + "b")), Verdict::Served);
    assert_eq!(policy.file(&("a".repeat(1000) + "b")), Verdict::Served);
}
