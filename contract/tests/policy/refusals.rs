//! Patterns that make no policy, and the words that say so.

use preopen_contract::policy::{MAX_PATTERN_BYTES, PatternError, Policy, PolicyError};

/// Why `pattern` is refused; the same in both lists.
fn refusal(pattern: &str) -> PatternError {
    let of = |include: &[&str], exclude: &[&str], in_include: bool| match Policy::new(
        include, exclude,
    ) {
        Err(PolicyError::Pattern {
            include,
            pattern: told,
            problem,
        }) => {
            assert_eq!((include, told.as_str()), (in_include, pattern));
            problem
        }
        other => panic!("{pattern}: {other:?}"),
    };
    let problem = of(&["a", pattern], &[], true);
    assert_eq!(problem, of(&["a"], &["a", pattern], false));
    problem
}

macro_rules! refused {
    ($($name:ident: $pattern:expr => $problem:ident;)+) => {$(
        #[test]
        fn $name() {
            assert_eq!(refusal($pattern), PatternError::$problem);
        }
    )+};
}

refused! {
    empty: "" => Empty;
    empty_choice: "{a,}" => Empty;
    too_long: &"a".repeat(MAX_PATTERN_BYTES + 1) => TooLong;
    ten_thousand_stars: &"*".repeat(10_000) => TooLong;
    as_many_stars_as_fit: &"*".repeat(MAX_PATTERN_BYTES) => Stars;
    slash: "/" => Absolute;
    absolute: "/**" => Absolute;
    absolute_choice: "{,a}/b" => Absolute;
    dot_first: "./x" => Dots;
    parent_first: "../**" => Dots;
    parent_after_a_wildcard: "src/*/../../**" => Dots;
    parent_last: "a/.." => Dots;
    parent_with_slash: "a/../" => Dots;
    parent_choice: "a/{b,..}/c" => Dots;
    parent_in_parts: "a/{.,b}./c" => Dots;
    two_slashes: "a//b" => EmptySegment;
    two_slashes_last: "a//" => EmptySegment;
    two_slashes_by_choice: "a/{b,}/c" => EmptySegment;
    backslash: "a\\b" => Backslash;
    backslash_in_class: "[\\]" => Backslash;
    nul: "a\0b" => Nul;
    drive: "C:/x" => Drive;
    drive_alone: "c:" => Drive;
    drive_choice: "{a,c}:/x" => Drive;
    three_stars: "***" => Stars;
    stars_inside: "a**b" => Stars;
    stars_last: "a/b**" => Stars;
    stars_first: "**.md" => Stars;
    stars_by_choice: "{*,a}*b" => Stars;
    stars_that_a_choice_would_join: "{a,*}*" => Stars;
    bracket: "[" => OpenClass;
    bracket_after_stars: "**[" => OpenClass;
    bracket_pair: "[]" => OpenClass;
    bracket_negated: "[!]" => OpenClass;
    bracket_over_a_slash: "[a/b]" => OpenClass;
    range_backwards: "[z-a]" => BackwardRange;
    named_class: "[[:alpha:]]*" => NamedClass;
    brace: "{a" => OpenBrace;
    brace_end: "a}" => StrayBrace;
    braces_empty: "a{}" => NoAlternatives;
    too_many_choices: &"{a,b}".repeat(9) => TooManyAlternatives;
}

#[test]
fn no_include_is_refused_whatever_is_excluded() {
    let refused = Policy::new(&[], &["["]).expect_err("nothing is included");
    assert_eq!(refused, PolicyError::NoInclude);
    assert!(refused.is_include());
}

#[test]
fn the_list_at_fault_is_known() {
    let at_fault = |include, exclude| {
        Policy::new(&[include], &[exclude])
            .map_err(|error| error.is_include())
            .err()
    };
    assert_eq!(at_fault("[", "a"), Some(true));
    assert_eq!(at_fault("a", "["), Some(false));
    assert_eq!(at_fault("[", "["), Some(true));
    assert_eq!(at_fault("a", "a"), None);
}

#[test]
fn the_longest_pattern_and_the_most_choices_are_taken() {
    let longest = "a".repeat(MAX_PATTERN_BYTES);
    assert!(Policy::new(&[&longest], &[]).is_ok());
    assert!(Policy::new(&["{a,b}".repeat(8)], &[]).is_ok());
}

#[test]
fn what_only_looks_like_a_fault_is_taken() {
    for pattern in [
        "...", ".a", "a..b", "..a/b", "ab:c", "a/c:/b", "1:x", "a]", ",", "!a", "-rf",
    ] {
        assert!(Policy::new(&[pattern], &[]).is_ok(), "{pattern}");
    }
}

#[test]
fn the_text_is_one_short_line_that_starts_with_the_pattern() {
    let text = |pattern: &str| {
        Policy::new(&[pattern], &[])
            .expect_err("malformed")
            .to_string()
    };
    assert_eq!(
        text("a\\b"),
        "`a\\b` has a backslash; use / between names; [x] takes x literally"
    );
    assert_eq!(
        text("{a"),
        "`{a` has a `{` without its `}`; [{] takes it literally"
    );
    assert_eq!(
        text("a}"),
        "`a}` has a `}` without its `{`; [}] takes it literally"
    );
    assert_eq!(
        text("a**b"),
        "`a**b` has stars side by side; `**` must stand alone between slashes"
    );
    assert_eq!(
        text("\n\0"),
        "`\\n\\u{0}` has a NUL character, which no path has; remove it"
    );
    let long = text(&"*".repeat(10_000));
    assert!(
        long.starts_with("`****") && long.contains("*…` is longer"),
        "{long}"
    );
    assert!(long.len() < 200, "{long}");
}
