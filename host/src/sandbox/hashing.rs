//! Content hashes, which the host takes for the component: the processor has
//! instructions for them that WebAssembly has not. What a hash is over, and
//! where its text belongs, the component says.

use hmac::{Hmac, KeyInit, Mac};
use preopen_contract::hash::{self, hex};
use sha2::{Digest, Sha256};

use super::bindings::exports::preopen::mcp::tools::Unhashed;

/// Puts the hash into `structured`; nothing where it has no place there. Keyed
/// it is HMAC-SHA-256 (RFC 2104), else SHA-256, as the component has it.
pub(super) fn complete(
    mut structured: String,
    unhashed: &Unhashed,
    key: Option<&[u8]>,
) -> Option<String> {
    let at = usize::try_from(unhashed.at).ok()?;
    if !structured.is_char_boundary(at) {
        return None;
    }
    let digest = match key {
        None => Sha256::digest(&unhashed.content),
        Some(key) => {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
            mac.update(&unhashed.content);
            mac.finalize().into_bytes()
        }
    };
    let prefix = hash::prefix(key.is_some());
    let mut hash = String::with_capacity(prefix.len() + hash::LENGTH);
    hash.push_str(prefix);
    hex(&mut hash, &digest);
    structured.insert_str(at, &hash);
    Some(structured)
}

#[cfg(test)]
mod tests {
    use super::super::bindings::exports::preopen::mcp::tools::Unhashed;
    use super::complete;

    fn completed(text: &str, content: &[u8], at: u32, key: Option<&[u8]>) -> Option<String> {
        let content = content.to_vec();
        complete(text.to_owned(), &Unhashed { content, at }, key)
    }

    #[test]
    fn hashes_are_the_published_ones() {
        // FIPS 180-4 "abc"; RFC 4231, test case 2.
        assert_eq!(
            completed(r#"{"h":""}"#, b"abc", 6, None).as_deref(),
            Some(
                r#"{"h":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#
            )
        );
        assert_eq!(
            completed("", b"what do ya want for nothing?", 0, Some(b"Jefe")).as_deref(),
            Some("hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        );
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        assert_eq!(completed("é", b"", 1, None), None);
        assert_eq!(completed("é", b"", 3, None), None);
        assert_eq!(completed("é", b"", u32::MAX, None), None);
    }
}
