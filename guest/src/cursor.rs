//! Cursors: where a traversal goes on, signed, and bound to its tool, its
//! arguments and the state it depends on. All have one length and one spelling;
//! nothing in one is believed before its signature holds.

use std::cell::RefCell;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::digest::{Fields, STATE, keyed};
use crate::refusal::Refusal;

/// The layout of the payload: a cursor of another one is refused.
const VERSION: u8 = 1;
const TRAVERSAL: usize = 16;
const NUMBER: usize = 8;
const PAYLOAD: usize = 2 + TRAVERSAL + STATE + 3 * NUMBER;
const MAC: usize = 32;

/// The length of every cursor, in bytes.
pub(crate) const LENGTH: usize = base64_length(PAYLOAD) + 1 + base64_length(MAC);

const fn base64_length(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// A key that HMAC-SHA-256 has taken in, which is half of the work on a cursor.
struct Signer {
    key: Box<[u8]>,
    mac: Hmac<Sha256>,
}

thread_local! {
    /// The one that was used last: an instance has one key for life.
    static SIGNER: RefCell<Option<Signer>> = const { RefCell::new(None) };
}

/// HMAC-SHA-256 under `key`.
fn signer(key: &[u8]) -> Hmac<Sha256> {
    SIGNER.with_borrow_mut(|last| match last {
        Some(signer) if *signer.key == *key => signer.mac.clone(),
        _ => {
            let (key, mac) = (key.into(), keyed(key));
            last.insert(Signer { key, mac }).mac.clone()
        }
    })
}

/// Where to go on; each tool says what its three numbers are.
pub(crate) type Position = [u64; 3];

/// A tool and its arguments but `cursor` and `limit`, which may change from page to page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traversal {
    tool: u8,
    arguments: [u8; TRAVERSAL],
}

/// What a cursor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The digest of the state it was issued in.
    pub(crate) state: [u8; STATE],
    pub(crate) position: Position,
}

impl Traversal {
    /// `arguments` in their canonical form, always in the same order.
    pub(crate) fn new(tool: u8, arguments: &[&str]) -> Self {
        let mut digest = Fields::default();
        for argument in arguments {
            digest.add(argument.as_bytes());
        }
        let mut short = [0; TRAVERSAL];
        for (to, from) in short.iter_mut().zip(digest.finish()) {
            *to = from;
        }
        Self {
            tool,
            arguments: short,
        }
    }

    /// The text of a cursor of this traversal.
    pub(crate) fn issue(&self, key: &[u8], cursor: &Cursor) -> String {
        let mut payload = Vec::with_capacity(PAYLOAD);
        payload.extend([VERSION, self.tool]);
        payload.extend(self.arguments);
        payload.extend(cursor.state);
        payload.extend(
            cursor
                .position
                .iter()
                .flat_map(|number| number.to_be_bytes()),
        );
        let mac = signer(key).chain_update(&payload).finalize().into_bytes();

        let mut text = String::with_capacity(LENGTH);
        URL_SAFE_NO_PAD.encode_string(&payload, &mut text);
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(mac, &mut text);
        text
    }

    /// Reads a cursor that was issued for this traversal.
    pub(crate) fn read(&self, key: &[u8], text: &str) -> Result<Cursor, Refusal> {
        if text.len() != LENGTH {
            return Err(Refusal::Cursor);
        }
        // The decoder refuses padding and stray bits: a payload has one spelling.
        let decode = |part| URL_SAFE_NO_PAD.decode(part).map_err(|_| Refusal::Cursor);
        let (payload, mac) = text.split_once('.').ok_or(Refusal::Cursor)?;
        let payload = decode(payload)?;
        signer(key)
            .chain_update(&payload)
            .verify_slice(&decode(mac)?)
            .map_err(|_| Refusal::Cursor)?;

        let (head, rest) = payload.split_first_chunk().ok_or(Refusal::Cursor)?;
        let (arguments, rest) = rest.split_first_chunk().ok_or(Refusal::Cursor)?;
        let (state, rest) = rest.split_first_chunk().ok_or(Refusal::Cursor)?;
        let (numbers, rest) = rest.as_chunks::<NUMBER>();
        let ([VERSION, tool], &[first, second, third], []) = (head, numbers, rest) else {
            return Err(Refusal::Cursor);
        };
        if *self
            != (Self {
                tool: *tool,
                arguments: *arguments,
            })
        {
            return Err(Refusal::OtherTraversal);
        }
        Ok(Cursor {
            state: *state,
            position: [first, second, third].map(u64::from_be_bytes),
        })
    }
}

#[cfg(any(test, fuzzing))]
pub(crate) mod property;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::{Cursor, LENGTH, Traversal, property};
    use crate::refusal::Refusal;

    const KEY: &[u8] = b"a key of this process";

    fn sample() -> (Traversal, Cursor) {
        let cursor = Cursor {
            state: [7; 32],
            position: [1, u64::MAX, 3],
        };
        (Traversal::new(2, &["query", "path"]), cursor)
    }

    proptest! {
        #[test]
        fn what_was_issued_is_read(tool: u8, argument: String, state: [u8; 32], position: [u64; 3]) {
            let traversal = Traversal::new(tool, &[&argument]);
            let cursor = Cursor { state, position };
            let text = traversal.issue(KEY, &cursor);
            prop_assert_eq!(text.len(), LENGTH);
            prop_assert_eq!(traversal.read(KEY, &text), Ok(cursor));
        }

        #[test]
        fn nothing_else_is(text in ".{0,300}") {
            prop_assert_eq!(sample().0.read(KEY, &text), Err(Refusal::Cursor));
        }

        #[test]
        fn every_property_holds(choices in prop::collection::vec(any::<u8>(), 0..600)) {
            property::check(&choices);
        }
    }

    #[test]
    fn the_seeds_of_the_fuzzer_hold() {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/cursor");
        let seeds: Vec<_> = fs::read_dir(seeds).expect("a directory of seeds").collect();
        assert!(!seeds.is_empty());
        for seed in seeds {
            property::check(&fs::read(seed.expect("an entry").path()).expect("a seed"));
        }
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let (traversal, cursor) = sample();
        let text = traversal.issue(KEY, &cursor);
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ";
        for at in 0..text.len() {
            for other in alphabet.chars() {
                let mut changed = text.clone();
                changed.replace_range(at..=at, other.encode_utf8(&mut [0; 4]));
                if changed != text {
                    assert_eq!(
                        traversal.read(KEY, &changed),
                        Err(Refusal::Cursor),
                        "{at} {other}"
                    );
                }
            }
        }
        for changed in [
            "",
            "0",
            "=",
            &format!("{text}="),
            &format!(" {text}"),
            &text[1..],
        ] {
            assert_eq!(
                traversal.read(KEY, changed),
                Err(Refusal::Cursor),
                "{changed}"
            );
        }
    }

    #[test]
    fn another_key_tool_or_argument_is_told_apart() {
        let (traversal, cursor) = sample();
        let text = traversal.issue(KEY, &cursor);
        assert_eq!(traversal.read(b"another", &text), Err(Refusal::Cursor));
        for other in [
            Traversal::new(3, &["query", "path"]),
            Traversal::new(2, &["query", "pat"]),
            Traversal::new(2, &["queryp", "ath"]),
        ] {
            assert_eq!(other.read(KEY, &text), Err(Refusal::OtherTraversal));
        }
    }
}
