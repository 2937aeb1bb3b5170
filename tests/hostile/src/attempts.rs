//! The table of attempts. It knows their order and nothing of what they do.

use wasip2::filesystem::types::Descriptor;

use crate::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::{
    bounds, flags, handles, links, names, paths, rights, special, surroundings, temporaries, waste,
    writes,
};

/// One way to try to get out.
pub(crate) struct Attempt {
    /// What it tries, in words joined by dashes.
    pub(crate) name: &'static str,
    /// The same for a reader, in one line.
    pub(crate) what: &'static str,
    /// Tries it, starting from the directory that was granted.
    pub(crate) run: fn(&Descriptor) -> Outcome,
}

/// All attempts, always in the same order.
pub(crate) fn all() -> impl Iterator<Item = &'static Attempt> {
    [
        paths::ATTEMPTS,
        links::ATTEMPTS,
        special::ATTEMPTS,
        names::ATTEMPTS,
        flags::ATTEMPTS,
        rights::ATTEMPTS,
        writes::ATTEMPTS,
        temporaries::ATTEMPTS,
        surroundings::ATTEMPTS,
        handles::ATTEMPTS,
        waste::ATTEMPTS,
        bounds::ATTEMPTS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn every_name_is_words_joined_by_dashes_and_stands_once() {
        let mut seen = BTreeSet::new();
        for attempt in all() {
            let words = attempt.name.split('-').all(|word| {
                !word.is_empty()
                    && word
                        .bytes()
                        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'))
            });
            assert!(words, "{}", attempt.name);
            assert!(seen.insert(attempt.name), "{} stands twice", attempt.name);
        }
        assert!(!seen.is_empty());
    }

    #[test]
    fn every_attempt_says_in_one_line_what_it_tries() {
        for attempt in all() {
            let what = attempt.what;
            assert_eq!(what.trim(), what, "{}", attempt.name);
            assert!((10..=100).contains(&what.len()), "{}", attempt.name);
            assert!(!what.contains('\n'), "{}", attempt.name);
        }
    }
}
