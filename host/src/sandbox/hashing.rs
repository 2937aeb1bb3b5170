//! Content hashes, which the host takes for the component: the processor has
//! instructions for them that WebAssembly has not. What a hash is over, and
//! where its text belongs, the component says.

use super::bindings::exports::preopen::mcp::tools::Unhashed;
use crate::hasher::{Hash, Written};

/// Puts the hash that an answer lacks into its structure and its text, whichever
/// has a place for it; nothing where the place is none. `written` is what the
/// call has written, if anything could.
pub(super) fn complete(
    structured: String,
    text: Option<String>,
    unhashed: &Unhashed,
    key: Option<&[u8]>,
    written: Option<Written>,
) -> Option<(String, Option<String>)> {
    let hash = match &unhashed.content {
        Some(content) => {
            let mut hash = Hash::new(key);
            hash.update(content);
            hash
        }
        None => written?.finish()?,
    };
    let hash = hash.finish();
    let structured = insert(structured, unhashed.at, &hash)?;
    let text = match unhashed.text_at {
        Some(at) => Some(insert(text?, at, &hash)?),
        None => text,
    };
    Some((structured, text))
}

fn insert(mut text: String, at: u32, hash: &str) -> Option<String> {
    let at = usize::try_from(at).ok()?;
    text.is_char_boundary(at)
        .then(|| text.insert_str(at, hash))?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::bindings::exports::preopen::mcp::tools::Unhashed;
    use super::complete;
    use crate::hasher::Written;

    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn unhashed(content: Option<&[u8]>, at: u32, text_at: Option<u32>) -> Unhashed {
        let content = content.map(<[u8]>::to_vec);
        Unhashed {
            content,
            at,
            text_at,
        }
    }

    fn completed(text: &str, content: &[u8], at: u32) -> Option<String> {
        let unhashed = unhashed(Some(content), at, None);
        Some(complete(text.to_owned(), None, &unhashed, None, None)?.0)
    }

    #[test]
    fn the_hash_stands_where_its_place_is() {
        let expected = format!(r#"{{"h":"{ABC}"}}"#);
        assert_eq!(completed(r#"{"h":""}"#, b"abc", 6), Some(expected));
        let mut written = Written::new(None);
        written.add(b"ab".to_vec());
        written.add(b"c".to_vec());
        let both = complete(
            "<>".into(),
            Some("()".into()),
            &unhashed(None, 1, Some(1)),
            None,
            Some(written),
        );
        assert_eq!(both, Some((format!("<{ABC}>"), Some(format!("({ABC})")))));
    }

    #[test]
    fn it_is_keyed_where_there_is_a_key() {
        // RFC 4231, test case 2.
        let unhashed = unhashed(Some(b"what do ya want for nothing?"), 0, None);
        let (hash, text) =
            complete(String::new(), None, &unhashed, Some(b"Jefe"), None).expect("a place");
        assert_eq!(
            hash,
            "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(text, None);
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        assert_eq!(completed("é", b"", 1), None);
        assert_eq!(completed("é", b"", 3), None);
        assert_eq!(completed("é", b"", u32::MAX), None);
        let text = |text: Option<&str>, at| {
            let unhashed = unhashed(Some(b""), 0, Some(at));
            complete(
                String::new(),
                text.map(str::to_owned),
                &unhashed,
                None,
                None,
            )
        };
        assert_eq!(text(Some("é"), 1), None);
        assert_eq!(text(None, 0), None);
        // Nobody has written anything.
        assert_eq!(
            complete(String::new(), None, &unhashed(None, 0, None), None, None),
            None
        );
    }
}
