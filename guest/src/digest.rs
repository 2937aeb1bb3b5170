//! SHA-256 in its three uses here: the content hash that clients see, the
//! digest of the state a cursor depends on, and the digest of its arguments.

use hmac::{Hmac, KeyInit, Mac};
use preopen_contract::hash::{self, hex};
use sha2::{Digest, Sha256};

use crate::bindings::exports::preopen::mcp::tools::{Settings, Unhashed};

/// The length of the digest of a state, in bytes.
pub(crate) const STATE: usize = 32;

/// HMAC-SHA-256 under `key`, of any length.
pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes every key (RFC 2104), so the fallback is never reached.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

/// A content hash in the making; each tool says which bytes it is over.
#[derive(Clone)]
pub(crate) enum ContentHash {
    Plain(Sha256),
    Keyed(Hmac<Sha256>),
    /// The host takes it: the bytes it is over.
    Left(Vec<u8>),
}

/// A content hash as it was at some point.
pub(crate) enum Mark {
    Taken(ContentHash),
    Left(usize),
}

impl ContentHash {
    /// One for a structured answer, which the host takes if it can.
    pub(crate) fn structured(settings: &Settings) -> Self {
        match settings.host_hashes {
            true => Self::Left(Vec::new()),
            false => Self::new(settings.hash_key.as_deref()),
        }
    }

    /// HMAC-SHA-256 with a key, SHA-256 without.
    pub(crate) fn new(key: Option<&[u8]>) -> Self {
        match key {
            Some(key) => Self::Keyed(keyed(key)),
            None => Self::Plain(Sha256::new()),
        }
    }

    /// What stands before the digits.
    pub(crate) const fn prefix(key: Option<&[u8]>) -> &'static str {
        hash::prefix(key.is_some())
    }

    /// How many bytes [`Self::finish`] gives.
    pub(crate) const fn length(key: Option<&[u8]>) -> usize {
        Self::prefix(key).len() + hash::LENGTH
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(hash) => Digest::update(hash, bytes),
            Self::Keyed(hash) => Mac::update(hash, bytes),
            Self::Left(content) => content.extend_from_slice(bytes),
        }
    }

    /// The same of bytes that nobody else needs: where they are all there is to collect, they are
    /// not copied.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) {
        match self {
            Self::Left(content) if content.is_empty() => *content = bytes,
            _ => self.update(&bytes),
        }
    }

    /// Where to come back to.
    pub(crate) fn mark(&self) -> Mark {
        match self {
            Self::Left(content) => Mark::Left(content.len()),
            taken => Mark::Taken(taken.clone()),
        }
    }

    /// Takes back every byte since `mark`.
    pub(crate) fn rewind(&mut self, mark: &Mark) {
        match (self, mark) {
            (Self::Left(content), Mark::Left(length)) => content.truncate(*length),
            (this, Mark::Taken(then)) => this.clone_from(then),
            (_, Mark::Left(_)) => {}
        }
    }

    /// Ends a structured answer with this hash, behind the opening quote that `out` ends with; the
    /// answer is what is left to the host.
    pub(crate) fn close(self, out: &mut String) -> Option<Unhashed> {
        let left = match self {
            Self::Left(content) => u32::try_from(out.len()).ok().map(|at| Unhashed {
                content: Some(content),
                at,
                text_at: None,
            }),
            taken => {
                out.push_str(&taken.finish());
                None
            }
        };
        out.push_str("\"}");
        left
    }

    /// The prefix and 64 lowercase hex digits; nothing where it is left to the host.
    pub(crate) fn finish(self) -> String {
        let (prefix, digest) = match self {
            Self::Plain(hash) => (Self::prefix(None), hash.finalize()),
            Self::Keyed(hash) => (Self::prefix(Some(&[])), hash.finalize().into_bytes()),
            Self::Left(_) => return String::new(),
        };
        let mut text = String::with_capacity(prefix.len() + 2 * digest.len());
        text.push_str(prefix);
        hex(&mut text, &digest);
        text
    }
}

/// Whether `text` is spelled as a content hash with this prefix.
pub(crate) fn is_content_hash(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == hash::LENGTH
            && digits
                .bytes()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A digest over a sequence of fields: no two sequences feed it the same bytes.
#[derive(Clone, Default)]
pub(crate) struct Fields(Sha256);

impl Fields {
    pub(crate) fn add(&mut self, field: &[u8]) {
        Digest::update(&mut self.0, (field.len() as u64).to_le_bytes());
        Digest::update(&mut self.0, field);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentHash, Fields, is_content_hash};

    fn hash(key: Option<&[u8]>, parts: &[&[u8]]) -> String {
        let mut hash = ContentHash::new(key);
        for part in parts {
            hash.update(part);
        }
        hash.finish()
    }

    #[test]
    fn content_hashes_are_the_published_ones() {
        // FIPS 180-4 "abc"; RFC 4231, test case 2.
        assert_eq!(
            hash(None, &[b"a", b"bc"]),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hash(Some(b"Jefe"), &[b"what do ya want ", b"for nothing?"]),
            "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_content_hash_has_one_spelling() {
        let text = hash(None, &[]);
        assert_eq!(text.len(), ContentHash::length(None));
        assert_eq!(hash(Some(b"k"), &[]).len(), ContentHash::length(Some(b"k")));
        assert!(is_content_hash(&text, "sha256:"));
        assert!(!is_content_hash(&text, "hmac-sha256:"));
        assert!(!is_content_hash(&text.to_uppercase(), "sha256:"));
        assert!(!is_content_hash(&text[..70], "sha256:"));
        assert!(!is_content_hash(&format!("{text}0"), "sha256:"));
    }

    #[test]
    fn fields_do_not_run_together() {
        let digest = |fields: &[&str]| {
            let mut digest = Fields::default();
            for field in fields {
                digest.add(field.as_bytes());
            }
            digest.finish()
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a"]), digest(&["a", ""]));
    }
}
