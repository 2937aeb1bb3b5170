//! What the patterns say of directories and of the root's own top level.

use preopen_contract::policy::Verdict;

use crate::policy;

macro_rules! directories {
    ($($name:ident: $include:expr, $exclude:expr, $path:expr => $verdict:ident;)+) => {$(
        #[test]
        fn $name() {
            assert_eq!(policy(&$include, &$exclude).directory($path), Verdict::$verdict);
        }
    )+};
}

directories! {
    root: ["**"], [], "" => Served;
    root_with_a_deep_include: ["docs/**"], [], "" => Served;
    root_with_a_top_include: ["a"], [], "" => Served;
    any_with_everything: ["**"], [], "a/b/c" => Served;
    the_included: ["docs/**"], [], "docs" => Served;
    below_the_included: ["docs/**"], [], "docs/a" => Served;
    beside_the_included: ["docs/**"], [], "src" => NotIncluded;
    longer_than_the_included: ["docs/**"], [], "docs2" => NotIncluded;
    slash_at_the_end: ["docs/"], [], "docs" => Served;
    above_the_included: ["a/b/c/*"], [], "a/b" => Served;
    on_the_way: ["docs/*/x.md"], [], "docs/a" => Served;
    off_the_way: ["docs/*/x.md"], [], "docs/a/b" => NotIncluded;
    a_file_pattern_reaches_nothing_below: ["docs"], [], "docs" => NotIncluded;
    a_star_reaches_nothing_below: ["*"], [], "a" => NotIncluded;
    anywhere: ["**/x.md"], [], "a/b" => Served;
    anywhere_below: ["a/**/x.md"], [], "a/b/x.md" => Served;
    anywhere_elsewhere: ["a/**/x.md"], [], "b" => NotIncluded;
    by_one_alternative: ["{a,b/c}/d"], [], "b" => Served;
    by_no_alternative: ["{a,b/c}/d"], [], "c" => NotIncluded;
    by_the_second_include: ["a", "b/*"], [], "b" => Served;

    excluded_itself: ["**"], ["node_modules"], "node_modules" => Excluded;
    excluded_by_ancestor: ["**"], ["node_modules"], "node_modules/a" => Excluded;
    excluded_by_its_content: ["**"], ["**/node_modules/**"], "node_modules" => Excluded;
    excluded_by_its_content_deep: ["**"], ["**/node_modules/**"], "a/node_modules" => Excluded;
    excluded_by_content_of_ancestor: ["**"], ["**/node_modules/**"], "a/node_modules/b/c" => Excluded;
    excluded_with_a_slash: ["**"], ["target/"], "target" => Excluded;
    excluded_beside: ["**"], ["**/node_modules/**"], "a/modules" => Served;
    excluded_below_only: ["**"], ["a/b/**"], "a" => Served;
    excluded_between: ["**"], ["a/**/b/**"], "a/x/b" => Excluded;
    excluded_in_the_middle: ["**"], ["a/**/b"], "a" => Served;
    excluded_before_not_included: ["a/**"], ["b"], "b" => Excluded;
    excluded_as_written: ["**"], ["Secrets/**"], "secrets" => Served;
    excluded_files_of_a_directory: ["**"], ["**/*.env"], "a" => Served;

    root_without_anything: ["**"], ["**"], "" => Excluded;
    root_without_any_name: ["**"], ["*"], "" => Excluded;
    root_without_any_name_anywhere: ["**"], ["**/*"], "" => Excluded;
    root_by_one_alternative: ["**"], ["{a,**}"], "" => Excluded;
    root_with_some_excluded: ["**"], ["*.env"], "" => Served;
    root_with_its_directories_excluded: ["**"], ["*/**"], "" => Served;
    any_without_anything: ["**"], ["**"], "a/b" => Excluded;
    any_of_its_directories_excluded: ["**"], ["*/**"], "a" => Excluded;

    reserved: ["**"], [], ".preopen-mcp-0123456789abcdef0123456789abcdef.tmp" => Excluded;
    below_reserved: ["**"], [], "a/.preopen-mcp-0123456789abcdef0123456789abcdef.tmp/b" => Excluded;
}

macro_rules! top_level {
    ($($name:ident: $include:expr, $exclude:expr => $reached:expr;)+) => {$(
        #[test]
        fn $name() {
            assert_eq!(policy(&$include, &$exclude).reaches_top_level(), $reached);
        }
    )+};
}

top_level! {
    top_by_everything: ["**"], [] => true;
    top_by_star: ["*"], [] => true;
    top_by_suffix: ["*.md"], [] => true;
    top_by_name: ["a.md"], [] => true;
    top_by_anywhere: ["**/a.md"], [] => true;
    top_by_alternative: ["{docs/,}a.md"], [] => true;
    top_by_second: ["docs/**", "a.md"], [] => true;
    top_not_by_directory: ["docs/**"], [] => false;
    top_not_by_slash: ["docs/"], [] => false;
    top_not_by_two_names: ["*/*"], [] => false;
    top_not_by_anywhere_below: ["**/docs/*"], [] => false;
    top_not_by_anywhere_content: ["**/docs/**"], [] => false;
    top_not_when_all_is_excluded: ["**"], ["**"] => false;
    top_not_when_every_name_is_excluded: ["**"], ["*"] => false;
    top_not_when_its_one_name_is_excluded: ["a.md", "docs/**"], ["**/*.md"] => false;
    top_not_by_a_reserved_name: [".preopen-mcp-0123456789abcdef0123456789abcdef.tmp"], [] => false;
    top_when_only_directories_are_excluded: ["**"], ["*/**"] => true;
}
