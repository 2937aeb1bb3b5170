//! What the patterns say of files, and which rule said it.

use preopen_contract::policy::{RESERVED_PREFIX, RESERVED_SUFFIX, Rule, Verdict, is_reserved};

use crate::policy;

macro_rules! files {
    ($($name:ident: $include:expr, $exclude:expr, $path:expr => $verdict:ident;)+) => {$(
        #[test]
        fn $name() {
            assert_eq!(policy(&$include, &$exclude).file($path), Verdict::$verdict);
        }
    )+};
}

files! {
    everything_at_the_top: ["**"], [], "a" => Served;
    everything_deep: ["**"], [], "a/b/c/d" => Served;
    dot_names_are_ordinary: ["**"], [], ".git/config" => Served;
    dot_names_match_a_star: ["*"], [], ".hidden" => Served;
    one_exclude_hides_a_dot_folder: ["**"], [".git"], ".git/config" => Excluded;
    one_exclude_hides_every_dot_name: ["**"], ["**/.*"], "src/.cache/x" => Excluded;
    that_exclude_leaves_the_others: ["**"], ["**/.*"], "src/a.b" => Served;

    below_direct: ["lib/**"], [], "lib/a.ts" => Served;
    below_deep: ["lib/**"], [], "lib/deep/a.ts" => Served;
    below_is_not_itself: ["lib/**"], [], "lib" => NotIncluded;
    below_is_not_a_longer_name: ["lib/**"], [], "library/a.ts" => NotIncluded;
    below_is_from_the_root: ["lib/**"], [], "src/lib/a.ts" => NotIncluded;
    anywhere_includes_the_top: ["**/x"], [], "x" => Served;
    anywhere_deep: ["**/x"], [], "a/b/x" => Served;
    anywhere_is_the_whole_name: ["**/x"], [], "a/bx" => NotIncluded;
    between_none: ["a/**/z"], [], "a/z" => Served;
    between_some: ["a/**/z"], [], "a/b/c/z" => Served;
    between_wants_the_end: ["a/**/z"], [], "a/z/b" => NotIncluded;
    between_tries_later_ones: ["**/a/b"], [], "a/a/a/b" => Served;
    twice_any_depth: ["a/**/b/**/c"], [], "a/x/b/b/y/c" => Served;
    twice_in_order: ["a/**/b/**/c"], [], "a/c/b" => NotIncluded;
    doubled_means_one: ["**/**/x/**/**"], [], "x/y" => Served;
    doubled_still_wants_one: ["**/**/x/**/**"], [], "x" => NotIncluded;
    slash_at_the_end_is_below: ["lib/"], [], "lib/deep/a.ts" => Served;
    slash_at_the_end_is_not_itself: ["lib/"], [], "lib" => NotIncluded;
    slash_in_an_exclude: ["**"], ["lib/"], "lib/deep/a.ts" => Excluded;

    star_stays_in_its_name: ["*"], [], "a/b" => NotIncluded;
    star_may_be_empty: ["a*"], [], "a" => Served;
    star_around: ["a*z"], [], "abcz" => Served;
    star_around_does_not_overlap: ["aba*aba"], [], "ababa" => NotIncluded;
    star_suffix: ["*.ts"], [], "a.ts" => Served;
    star_suffix_alone: ["*.ts"], [], ".ts" => Served;
    star_suffix_below: ["*.ts"], [], "lib/a.ts" => NotIncluded;
    stars_try_again: ["*ab*c"], [], "aabxabc" => Served;
    stars_need_the_end: ["*ab*c"], [], "aabxabcd" => NotIncluded;
    question_is_one: ["a?c"], [], "abc" => Served;
    question_is_not_none: ["a?c"], [], "ac" => NotIncluded;
    question_is_no_slash: ["a?c"], [], "a/c" => NotIncluded;
    question_is_a_character: ["?.txt"], [], "é.txt" => Served;
    question_is_any_script: ["?.txt"], [], "🙂.txt" => Served;
    questions_count_characters: ["??.txt"], [], "é.txt" => NotIncluded;

    class_member: ["[abc].txt"], [], "b.txt" => Served;
    class_other: ["[abc].txt"], [], "d.txt" => NotIncluded;
    class_range: ["[a-c0-9]"], [], "7" => Served;
    class_range_end: ["[a-c]"], [], "c" => Served;
    class_beyond_range: ["[a-c]"], [], "-" => NotIncluded;
    class_dash_first: ["[-a]"], [], "-" => Served;
    class_dash_last: ["[a-]"], [], "-" => Served;
    class_dash_after_range: ["[a-c-e]"], [], "d" => NotIncluded;
    class_negated: ["[!a]"], [], "b" => Served;
    class_negated_member: ["[!a]"], [], "a" => NotIncluded;
    class_negated_is_no_slash: ["a[!a]a"], [], "a/a" => NotIncluded;
    class_negated_the_other_way: ["[^a]"], [], "a" => NotIncluded;
    class_later_mark_is_a_member: ["[a!]"], [], "!" => Served;
    class_negated_is_a_character: ["[!a]"], [], "é" => Served;
    class_of_any_script: ["[àé-í]"], [], "ê" => Served;
    class_range_is_no_slash: ["a[--z]b"], [], "a/b" => NotIncluded;
    class_takes_a_bracket: ["[[]"], [], "[" => Served;
    class_takes_its_end: ["[]x]"], [], "]" => Served;
    class_negates_its_end: ["[!]x]"], [], "]" => NotIncluded;
    class_takes_a_star: ["[*]"], [], "ab" => NotIncluded;
    class_takes_two_stars: ["[**]"], [], "*" => Served;
    class_takes_a_brace: ["[{]a,b[}]"], [], "{a,b}" => Served;
    bracket_end_alone_is_itself: ["a]"], [], "a]" => Served;
    excluded_in_any_script: ["**"], ["[é]?"], "éà" => Excluded;

    braces_first: ["{a,b}.txt"], [], "a.txt" => Served;
    braces_second: ["{a,b}.txt"], [], "b.txt" => Served;
    braces_neither: ["{a,b}.txt"], [], "c.txt" => NotIncluded;
    braces_nested: ["a{b,c{d,e}}"], [], "ace" => Served;
    braces_over_slashes: ["{a/b,c}/d"], [], "a/b/d" => Served;
    braces_empty_choice: ["a{,.txt}"], [], "a" => Served;
    braces_any_depth: ["{src,lib/**}/x"], [], "lib/a/b/x" => Served;
    braces_with_a_slash_at_the_end: ["a{,/}"], [], "a/b" => Served;
    comma_alone_is_itself: ["a,b"], [], "a,b" => Served;
    braces_as_exclude: ["**"], ["**/{node_modules,target}"], "x/target/debug/y" => Excluded;

    exclude_wins: ["a.txt"], ["a.txt"], "a.txt" => Excluded;
    exclude_wins_over_not_included: ["b"], ["a"], "a" => Excluded;
    exclude_by_ancestor: ["**"], ["node_modules"], "node_modules/a/b.js" => Excluded;
    exclude_from_the_root: ["**"], ["node_modules"], "x/node_modules/b.js" => Served;
    exclude_by_ancestor_anywhere: ["**"], ["**/node_modules"], "x/node_modules/a/b.js" => Excluded;
    exclude_of_content_anywhere: ["**"], ["**/node_modules/**"], "x/node_modules/a/b.js" => Excluded;
    exclude_of_content_is_not_a_file: ["**"], ["**/node_modules/**"], "node_modules" => Served;
    exclude_is_the_whole_name: ["**"], ["**/node_modules"], "node_modules2/b.js" => Served;
    exclude_by_wildcard_ancestor: ["**"], ["a*/b?"], "ab/bc/d/e" => Excluded;
    exclude_star_hides_all: ["**"], ["*"], "a/b/c" => Excluded;
    exclude_at_one_depth_hides_below: ["**"], ["*/*"], "a/b/c" => Excluded;
    exclude_at_one_depth_not_above: ["**"], ["*/*"], "a" => Served;
    include_does_not_reach_by_ancestor: ["src"], [], "src/a" => NotIncluded;
    second_include: ["a", "b"], [], "b" => Served;
    second_exclude: ["**"], ["a", "b"], "b/c" => Excluded;

    case_counts_in_a_name: ["**"], ["*.env", "Secrets/**"], "A.ENV" => Served;
    case_counts_in_a_folder: ["**"], ["*.env", "Secrets/**"], "secrets/k.txt" => Served;
    case_as_written: ["**"], ["*.env", "Secrets/**"], "Secrets/k.txt" => Excluded;
    case_counts_in_a_class: ["[a-z]"], [], "A" => NotIncluded;

    reserved_is_hidden: ["**"], [], ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp" => Excluded;
    reserved_is_hidden_below: ["**"], [], "a/.preopen-mcp-0123456789abcdef0123456789abcdef.tmp/b" => Excluded;
    reserved_even_if_included: [".preopen-mcp-*"], [], ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp" => Excluded;
}

#[test]
fn reserved_names_are_exactly_those() {
    let digits = "0123456789abcdef".repeat(2);
    let name = |digits: &str| format!("{RESERVED_PREFIX}{digits}{RESERVED_SUFFIX}");
    assert!(is_reserved(&name(&digits)));
    let others = [
        name(&digits.to_uppercase()),
        name(&digits.replace('f', "g")),
        name(&digits[1..]),
        name(&format!("{digits}0")),
        name(""),
        format!("x{}", name(&digits)),
        format!("{}x", name(&digits)),
        format!("{RESERVED_PREFIX}{digits}"),
        format!("{RESERVED_PREFIX}tmp"),
        format!(".preopen-mcp{RESERVED_SUFFIX}"),
    ];
    let all = policy(&["**"], &[]);
    for other in &others {
        assert!(!is_reserved(other), "{other}");
        assert_eq!(all.file(other), Verdict::Served, "{other}");
    }
}

#[test]
fn the_rule_that_decided_is_named_as_written() {
    let policy = policy(&["src/", "**/*.{md,txt}", "**/a.md"], &["**/x", "{b,c}/"]);
    let reserved = format!("src/{RESERVED_PREFIX}{}{RESERVED_SUFFIX}", "0".repeat(32));
    let table = [
        ("src/a", Verdict::Served, Some(Rule::Include("src/"))),
        (
            "a.md",
            Verdict::Served,
            Some(Rule::Include("**/*.{md,txt}")),
        ),
        ("src/x/a.md", Verdict::Excluded, Some(Rule::Exclude("**/x"))),
        ("c/a.md", Verdict::Excluded, Some(Rule::Exclude("{b,c}/"))),
        ("b/x", Verdict::Excluded, Some(Rule::Exclude("**/x"))),
        ("a.rs", Verdict::NotIncluded, None),
        (&reserved, Verdict::Excluded, Some(Rule::Reserved)),
    ];
    for (path, verdict, rule) in table {
        assert_eq!(policy.explain(path), (verdict, rule), "{path}");
        assert_eq!(policy.file(path), verdict, "{path}");
    }
}
