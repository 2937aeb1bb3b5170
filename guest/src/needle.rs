//! What is looked for in text: a literal, as it stands or whatever the case of
//! its letters. Where case is ignored the text itself is searched by an
//! automaton; no folded copy of it is made whose offsets would be others.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::Compiler;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir};

use crate::literal::Literal;

/// A literal, ready to be looked for.
pub(crate) struct Needle<'t> {
    search: Search<'t>,
    longest: usize,
}

enum Search<'t> {
    Exact(Box<Literal<'t>>),
    Folded(Box<Folded>),
}

/// An automaton that is built as far as the text needs it.
struct Folded {
    dfa: DFA,
    cache: Cache,
    /// Characters of the literal, and so of each match.
    characters: usize,
}

impl<'t> Needle<'t> {
    /// `text` as it stands. It is not empty and holds no LF, as for [`Self::folded`].
    pub(crate) fn exact(text: &'t str) -> Self {
        Self {
            search: Search::Exact(Box::new(Literal::new(text.as_bytes()))),
            longest: text.len(),
        }
    }

    /// `text` and all that differs from it by case alone: by simple case folding, as Unicode's
    /// CaseFolding.txt has it under C and S. None: there is no automaton for it.
    pub(crate) fn folded(text: &'t str) -> Option<Self> {
        let classes = text.chars().map(variants).collect::<Option<Vec<_>>>()?;
        if classes
            .iter()
            .all(|class| characters(class).nth(1).is_none())
        {
            return Some(Self::exact(text));
        }
        let longest = classes.iter().filter_map(ClassUnicode::maximum_len).sum();
        let prefilter = classes.first().and_then(first_bytes);
        let classes = classes.into_iter().map(Class::Unicode).map(Hir::class);
        let nfa = Compiler::new()
            .build_from_hir(&Hir::concat(classes.collect()))
            .ok()?;
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .prefilter(prefilter)
                    // Should it ever be too small, the cache grows; that is no reason to fail.
                    .skip_cache_capacity_check(true),
            )
            .build_from_nfa(nfa)
            .ok()?;
        let folded = Folded {
            cache: dfa.create_cache(),
            dfa,
            characters: text.chars().count(),
        };
        Some(Self {
            search: Search::Folded(Box::new(folded)),
            longest,
        })
    }

    /// The most bytes that a match has.
    pub(crate) const fn longest(&self) -> usize {
        self.longest
    }

    /// Where the first match in `text` is. A match is UTF-8, whatever stands around it.
    pub(crate) fn find(&mut self, text: &[u8]) -> Option<Range<usize>> {
        match &mut self.search {
            Search::Exact(literal) => {
                let start = literal.find(text)?;
                Some(start..start + self.longest)
            }
            Search::Folded(folded) => folded.find(text),
        }
    }
}

impl Folded {
    fn find(&mut self, text: &[u8]) -> Option<Range<usize>> {
        // It only ever gives up where it is told to, and is not.
        let end = self
            .dfa
            .try_search_fwd(&mut self.cache, &Input::new(text))
            .ok()??
            .offset();
        // It says where a match ends. Each has as many characters as the literal.
        let (start, _) = text
            .get(..end)?
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, byte)| **byte & 0xC0 != 0x80)
            .nth(self.characters - 1)?;
        Some(start..end)
    }
}

/// `character` and what differs from it by case alone.
fn variants(character: char) -> Option<ClassUnicode> {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    class.try_case_fold_simple().ok()?;
    Some(class)
}

fn characters(class: &ClassUnicode) -> impl Iterator<Item = char> {
    class.iter().flat_map(|range| range.start()..=range.end())
}

/// Finds where a match may begin, if the first character begins with few enough bytes.
fn first_bytes(class: &ClassUnicode) -> Option<Prefilter> {
    let mut bytes: Vec<[u8; 1]> = Vec::new();
    for character in characters(class) {
        let mut encoded = [0; 4];
        if let [first, ..] = *character.encode_utf8(&mut encoded).as_bytes()
            && !bytes.contains(&[first])
        {
            bytes.push([first]);
        }
    }
    Prefilter::new(MatchKind::LeftmostFirst, &bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Needle;

    /// Characters that are one but for case; CaseFolding.txt, C and S.
    const ALIKE: [&str; 9] = [
        "kK\u{212a}",
        "sS\u{17f}",
        "åÅ\u{212b}",
        "σςΣ",
        "ß\u{1e9e}",
        "iI",
        "éÉ",
        "дД\u{1c81}",
        "𐐀𐐨",
    ];
    /// Characters that are like no other one here: dotted and dotless i fold to themselves.
    const ALONE: &str = "\u{130}\u{131}1 .*[\\界🙂\r";

    fn alike(one: char, other: char) -> bool {
        one == other
            || ALIKE
                .iter()
                .any(|group| group.contains(one) && group.contains(other))
    }

    /// The first match, the obvious way: character by character.
    fn model(needle: &str, text: &str) -> Option<(usize, usize)> {
        text.char_indices().find_map(|(start, _)| {
            let mut rest = text[start..].chars();
            let mut length = 0;
            for wanted in needle.chars() {
                let found = rest.next().filter(|found| alike(*found, wanted))?;
                length += found.len_utf8();
            }
            Some((start, start + length))
        })
    }

    fn text(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
        let all: Vec<char> = ALIKE.concat().chars().chain(ALONE.chars()).collect();
        let few: Vec<char> = "kK\u{212a}sS".chars().collect();
        prop_oneof![
            prop::collection::vec(prop::sample::select(all), length.clone()),
            prop::collection::vec(prop::sample::select(few), length),
        ]
        .prop_map(String::from_iter)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn folding_finds_what_the_model_finds(needle in text(1..4), text in text(0..60)) {
            let mut folded = Needle::folded(&needle).expect("an automaton");
            let found = folded.find(text.as_bytes()).map(|hit| (hit.start, hit.end));
            prop_assert_eq!(found, model(&needle, &text));
            if let Some((start, end)) = found {
                prop_assert!(end - start <= folded.longest());
            }
        }

        #[test]
        fn a_match_is_found_between_bytes_that_are_no_text(
            before in prop::collection::vec(0x80_u8.., 0..9),
            needle in "[ksé界]{1,5}",
            after in prop::collection::vec(0x80_u8.., 0..9),
        ) {
            let upper = needle.to_uppercase();
            let bytes = [&before, upper.as_bytes(), &after].concat();
            let mut folded = Needle::folded(&needle).expect("an automaton");
            let hit = folded.find(&bytes).expect("a match");
            prop_assert_eq!(&bytes[hit], upper.as_bytes());
        }
    }

    #[test]
    fn every_character_finds_its_own_other_cases() {
        // Blocks to which newer versions of Unicode add no letters.
        let blocks = [
            '!'..='\u{52f}',
            '\u{1e00}'..='\u{1fff}',
            '\u{ff21}'..='\u{ff5a}',
        ];
        for character in blocks.into_iter().flatten() {
            let needle = format!("x{character}");
            let mut folded = Needle::folded(&needle).expect("an automaton");
            for other in [
                String::from_iter(character.to_lowercase()),
                String::from_iter(character.to_uppercase()),
            ] {
                // Folding that changes the number of characters is not simple, and the dotted I
                // and the dotless i are nobody's other case.
                let same = other.chars().count() == 1 && !"\u{130}\u{131}".contains(character);
                let found = folded.find(format!("X{other}").as_bytes()).is_some();
                assert_eq!(found, same || other == needle[1..], "{character} {other}");
            }
        }
    }

    #[test]
    fn exactly_is_exactly() {
        let mut needle = Needle::exact("K");
        assert_eq!(needle.find("k\u{212a}K".as_bytes()), Some(4..5));
        assert_eq!(needle.find(b"k"), None);
    }

    #[test]
    fn the_longest_literal_is_found_in_its_longest_form() {
        let needle = "k".repeat(256);
        let mut folded = Needle::folded(&needle).expect("an automaton");
        let text = format!("{}x{}", "k".repeat(255), "\u{212a}".repeat(256));
        assert_eq!(folded.find(text.as_bytes()), Some(256..text.len()));
        assert_eq!(folded.longest(), 768);
    }
}
