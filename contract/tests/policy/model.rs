//! The policy against a second implementation that is slow and obvious, and
//! against another glob library, over generated patterns and paths.

use globset::GlobBuilder;
use preopen_contract::policy::{Policy, Verdict, is_reserved};
use proptest::prelude::*;

/// Stands where a brace stood, so that stars on both sides of it are told
/// from a `**` that was written.
const SEAM: char = '|';

/// Everything that `pattern` stands for without its braces.
fn spellings(pattern: &str) -> Vec<String> {
    let (mut depth, mut in_class, mut cuts) = (0, false, Vec::new());
    for (at, character) in pattern.char_indices() {
        match character {
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '{' => {
                depth += 1;
                if depth == 1 {
                    cuts.push(at);
                }
            }
            ',' if depth == 1 => cuts.push(at),
            '}' => {
                depth -= 1;
                if depth == 0 {
                    cuts.push(at);
                    break;
                }
            }
            _ => {}
        }
    }
    let (Some(first), Some(last)) = (cuts.first(), cuts.last()) else {
        return vec![pattern.to_owned()];
    };
    cuts.windows(2)
        .map(|ends| &pattern[ends[0] + 1..ends[1]])
        .flat_map(|choice| {
            spellings(&format!(
                "{}{SEAM}{choice}{SEAM}{}",
                &pattern[..*first],
                &pattern[last + 1..]
            ))
        })
        .collect()
}

/// The segments of a spelling, or none if it is malformed.
fn segments(spelling: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    for part in spelling.split('/') {
        let segment = part.replace(SEAM, "");
        let stars_are_well = !segment.contains("**") || segment == "**" && part.contains("**");
        if !stars_are_well || matches!(&*segment, "." | "..") {
            return None;
        }
        segments.push(segment);
    }
    if segments.len() > 1 && segments.last()?.is_empty() {
        *segments.last_mut()? = "**".to_owned();
    }
    segments
        .iter()
        .all(|segment| !segment.is_empty())
        .then_some(segments)
}

fn name_matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', pattern @ ..], _) => {
            (0..=name.len()).any(|taken| name_matches(pattern, &name[taken..]))
        }
        (['?', pattern @ ..], [_, name @ ..]) => name_matches(pattern, name),
        (['[', '!', member, ']', pattern @ ..], [character, name @ ..]) => {
            character != member && name_matches(pattern, name)
        }
        (['[', member, ']', pattern @ ..], [character, name @ ..]) => {
            character == member && name_matches(pattern, name)
        }
        (['[', first, '-', last, ']', pattern @ ..], [character, name @ ..]) => {
            first <= character && character <= last && name_matches(pattern, name)
        }
        ([literal, pattern @ ..], [character, name @ ..]) => {
            literal == character && name_matches(pattern, name)
        }
        _ => false,
    }
}

fn one_name(pattern: &str, name: &str) -> bool {
    let characters = |text: &str| text.chars().collect::<Vec<_>>();
    name_matches(&characters(pattern), &characters(name))
}

fn path_matches(pattern: &[String], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        [last] if last == "**" => !path.is_empty(),
        [deep, pattern @ ..] if deep == "**" => {
            (0..=path.len()).any(|taken| path_matches(pattern, &path[taken..]))
        }
        [segment, pattern @ ..] => {
            !path.is_empty() && one_name(segment, path[0]) && path_matches(pattern, &path[1..])
        }
    }
}

/// Whether some path strictly below `path` matches.
fn matches_below(pattern: &[String], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => false,
        (_, []) => true,
        ([last], _) if last == "**" => true,
        ([deep, pattern @ ..], _) if deep == "**" => {
            (0..=path.len()).any(|taken| matches_below(pattern, &path[taken..]))
        }
        ([segment, pattern @ ..], [name, path @ ..]) => {
            one_name(segment, name) && matches_below(pattern, path)
        }
    }
}

struct Model {
    include: Vec<Vec<String>>,
    exclude: Vec<Vec<String>>,
}

impl Model {
    fn new(include: &[String], exclude: &[String]) -> Option<Self> {
        let all = |list: &[String]| {
            list.iter()
                .flat_map(|pattern| spellings(pattern))
                .map(|spelling| segments(&spelling))
                .collect::<Option<Vec<_>>>()
        };
        Some(Self {
            include: all(include)?,
            exclude: all(exclude)?,
        })
    }

    fn file(&self, path: &[&str]) -> Verdict {
        let hidden = |pattern: &Vec<String>| {
            (1..=path.len()).any(|depth| path_matches(pattern, &path[..depth]))
        };
        if path.iter().any(|name| is_reserved(name)) || self.exclude.iter().any(hidden) {
            Verdict::Excluded
        } else if self
            .include
            .iter()
            .any(|pattern| path_matches(pattern, path))
        {
            Verdict::Served
        } else {
            Verdict::NotIncluded
        }
    }

    fn directory(&self, path: &[&str]) -> Verdict {
        let hidden = |pattern: &Vec<String>| {
            let mut stem = pattern.clone();
            while stem.last().is_some_and(|segment| segment == "**") {
                stem.pop();
            }
            let content = stem.len() < pattern.len();
            let names = pattern.iter().filter(|segment| *segment != "**");
            let everything = path.is_empty() && !content && names.eq(["*"]);
            let hides = |depth: usize| {
                path_matches(pattern, &path[..depth])
                    || content && path_matches(&stem, &path[..depth])
            };
            everything || (0..=path.len()).any(hides)
        };
        if path.iter().any(|name| is_reserved(name)) || self.exclude.iter().any(hidden) {
            Verdict::Excluded
        } else if self
            .include
            .iter()
            .any(|pattern| matches_below(pattern, path))
        {
            Verdict::Served
        } else {
            Verdict::NotIncluded
        }
    }
}

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
    let name = prop_oneof![60 => name, 40 => Just("a".to_owned()), 1 => Just(reserved.to_owned())];
    prop::collection::vec(name, 1..6).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_policy_is_its_model(
        include in prop::collection::vec(pattern(&["a", "b", ".", "é"]), 1..3),
        exclude in prop::collection::vec(pattern(&["a", "b", ".", "é"]), 0..3),
        paths in prop::collection::vec(path(), 1..8),
    ) {
        let policy = Policy::new(&include, &exclude).ok();
        let model = Model::new(&include, &exclude);
        prop_assert_eq!(policy.is_some(), model.is_some());
        let Some((policy, model)) = policy.zip(model) else { return Ok(()) };
        prop_assert_eq!(policy.directory(""), model.directory(&[]));
        for path in &paths {
            let names: Vec<_> = path.split('/').collect();
            prop_assert_eq!(policy.file(path), model.file(&names), "file {}", path);
            prop_assert_eq!(policy.directory(path), model.directory(&names), "directory {}", path);
        }
    }

    #[test]
    fn every_directory_above_a_served_file_is_served(
        include in pattern(&["a", "b"]),
        exclude in prop::collection::vec(pattern(&["a", "b"]), 0..2),
        paths in prop::collection::vec(path(), 1..16),
    ) {
        let Ok(policy) = Policy::new(&[include], &exclude) else { return Ok(()) };
        for path in paths.iter().filter(|path| policy.file(path) == Verdict::Served) {
            let above = path.match_indices('/').map(|(end, _)| &path[..end]).chain([""]);
            for directory in above {
                prop_assert_eq!(policy.directory(directory), Verdict::Served, "{} of {}", directory, path);
            }
            prop_assert!(path.contains('/') || policy.reaches_top_level(), "{}", path);
        }
    }

    #[test]
    fn plain_patterns_mean_what_another_library_takes_them_for(
        pattern in pattern(&["a", "b", "."]),
        paths in prop::collection::vec(path(), 1..8),
    ) {
        let Ok(policy) = Policy::new(&[&pattern], &[]) else { return Ok(()) };
        let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern };
        // It does not know the slash at the end, here of a choice.
        if spellings(&whole).iter().any(|spelling| spelling.replace(SEAM, "").ends_with('/')) {
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
            prop_assert_eq!(policy.file(path) == Verdict::Served, other.is_match(path), "{}", path);
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
