//! Looks for a literal in bytes. Two bytes of it that are rare in most texts are
//! looked for first, in whole blocks, in a loop that has all it needs in
//! registers. The library's search, whose loop has not once it is compiled for
//! the component, looks only into blocks in which the literal may begin.

use memchr::arch::all::packedpair::Pair;
use memchr::memmem::Finder;

/// How many places are looked at together, in bytes.
const BLOCK: usize = 64;

/// Looking into a block costs as much as passing over so many.
const WORTH: usize = 8;

/// A literal, ready to be looked for.
#[derive(Debug)]
pub(crate) struct Literal<'l> {
    finder: Finder<'l>,
    /// None of a literal of one byte, which there is a loop for.
    rare: Option<Rare>,
}

/// A block of a text.
type Block = [u8; BLOCK];

/// Bytes of a literal, and where in it they are: the two rarest, and two more
/// by which most is told apart that holds both. Of a short one some are there twice.
#[derive(Clone, Copy, Debug)]
struct Rare([(u8, usize); 4]);

impl<'l> Literal<'l> {
    /// `literal` is not empty.
    pub(crate) fn new(literal: &'l [u8]) -> Self {
        Self {
            finder: Finder::new(literal),
            rare: Rare::of(literal),
        }
    }

    /// The bytes that are looked for.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    /// Where it is first in `text`.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let mut from = 0;
        if let Some(rare) = &self.rare {
            let mut looks = 0;
            while looks < WORTH || looks * WORTH * BLOCK < from {
                let (passed, may_begin) = rare.pass_over(text.get(from..)?);
                from += passed;
                if !may_begin {
                    break;
                }
                // All that begins in this block.
                let end = text.len().min(from + BLOCK + self.bytes().len() - 1);
                if let Some(hit) = self.finder.find(&text[from..end]) {
                    return Some(from + hit);
                }
                from += BLOCK;
                looks += 1;
            }
        }
        let rest = text.get(from..)?;
        self.finder.find(rest).map(|hit| from + hit)
    }
}

impl Rare {
    fn of(literal: &[u8]) -> Option<Self> {
        let pair = Pair::new(literal)?;
        let (one, two) = (usize::from(pair.index1()), usize::from(pair.index2()));
        let others = (0..literal.len())
            .rev()
            .filter(|place| ![one, two].contains(place));
        let mut places = [one, two, one, two];
        for (place, other) in places.iter_mut().skip(2).zip(others) {
            *place = other;
        }
        let bytes = places.map(|place| literal.get(place).copied());
        let [Some(one), Some(two), Some(three), Some(four)] = bytes else {
            return None;
        };
        let [first, second, third, fourth] = places;
        Some(Self([
            (one, first),
            (two, second),
            (three, third),
            (four, fourth),
        ]))
    }

    /// The length of the beginning of `text` in which no literal begins, and
    /// whether a block follows in which one may; otherwise less than a block does.
    fn pass_over(&self, text: &[u8]) -> (usize, bool) {
        let [(one, first), (two, second), ..] = self.0;
        let mut from = 0;
        loop {
            let blocks = |place: usize| text.get(from + place..).unwrap_or_default().as_chunks().0;
            let (first, second) = (blocks(first), blocks(second));
            let Some(passed) = first_with_both(first, second, one, two) else {
                let passed = first.len().min(second.len());
                return (from + passed * BLOCK, false);
            };
            from += passed * BLOCK;
            if self.may_begin(&text[from..]) {
                return (from, true);
            }
            from += BLOCK;
        }
    }

    /// Whether a literal may begin in the first block of `text`.
    fn may_begin(&self, text: &[u8]) -> bool {
        let block = |place: usize| text.get(place..).and_then(<[u8]>::first_chunk::<BLOCK>);
        let [one, two, three, four] = self.0;
        let (Some(first), Some(second), Some(third), Some(fourth)) =
            (block(one.1), block(two.1), block(three.1), block(four.1))
        else {
            return true;
        };
        let mut any = 0;
        for at in 0..BLOCK {
            any |= u8::from(first[at] == one.0)
                & u8::from(second[at] == two.0)
                & u8::from(third[at] == three.0)
                & u8::from(fourth[at] == four.0);
        }
        any != 0
    }
}

/// The number of the first block that has `one` where that of `second` has `two`.
// On its own, so that its loop has the registers for itself.
#[inline(never)]
fn first_with_both(first: &[Block], second: &[Block], one: u8, two: u8) -> Option<usize> {
    first.iter().zip(second).position(|(first, second)| {
        let mut any = 0;
        for at in 0..BLOCK {
            any |= u8::from(first[at] == one) & u8::from(second[at] == two);
        }
        any != 0
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, Literal, WORTH};

    fn plainly(text: &[u8], literal: &[u8]) -> Option<usize> {
        text.windows(literal.len()).position(|part| part == literal)
    }

    #[test]
    fn it_is_found_wherever_it_begins() {
        for literal in ["a", "zq", "needle", &"long and ".repeat(20)] {
            for length in [0, literal.len(), BLOCK - 1, 3 * BLOCK, 5 * BLOCK + 7] {
                for at in 0..=length {
                    let mut text = vec![b'-'; length];
                    text.splice(at..at, literal.bytes());
                    let found = Literal::new(literal.as_bytes()).find(&text);
                    assert_eq!(found, Some(at), "{literal:?} in {length}");
                }
                assert_eq!(
                    Literal::new(literal.as_bytes()).find(&vec![b'-'; length]),
                    None
                );
            }
        }
    }

    #[test]
    fn it_is_found_behind_many_blocks_that_only_look_like_it() {
        // In each the bytes that are looked at are its own, and others are not.
        let (literal, alike) = (b"zqabcdef", b"zqab-def");
        for count in [1, WORTH - 1, WORTH, WORTH + 1, 10 * WORTH] {
            let mut text = alike.repeat(count * BLOCK / alike.len());
            let at = text.len();
            text.extend_from_slice(literal);
            assert_eq!(Literal::new(literal).find(&text), Some(at));
            text.pop();
            assert_eq!(Literal::new(literal).find(&text), None);
        }
    }

    proptest! {
        #[test]
        fn what_it_finds_is_what_is_there(
            text in prop::collection::vec(prop::sample::select(b"abq-".to_vec()), 0..400),
            literal in prop::collection::vec(prop::sample::select(b"abq".to_vec()), 1..12),
        ) {
            prop_assert_eq!(Literal::new(&literal).find(&text), plainly(&text, &literal));
        }
    }
}
