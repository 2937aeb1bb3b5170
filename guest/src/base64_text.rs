//! Base64 as clients send it: RFC 4648, section 4, with padding and nothing
//! else but line breaks. It is decoded block by block, so that no more than the
//! text itself is in memory, and what is wrong is named by its place.

use std::io::{self, Read};

use base64::DecodeError;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;

use crate::refusal::Refusal;

/// The most that is decoded at a time, in bytes.
const BLOCK: usize = 256 << 10;

/// Hands the bytes that `text` stands for to `each`, in order.
///
/// # Errors
/// What `each` gives, or where the text is wrong, as an offset in bytes.
pub(crate) fn decode(
    text: &[u8],
    each: &mut dyn FnMut(&[u8]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut reader = DecoderReader::new(WithoutBreaks(text), &STANDARD);
    let mut block = vec![0; BLOCK];
    loop {
        let read = reader
            .read(&mut block)
            .map_err(|error| Refusal::NotBase64(place(text, &error)))?;
        match block.get(..read) {
            Some(bytes @ [_, ..]) => each(bytes)?,
            _ => return Ok(()),
        }
    }
}

/// Where in `text` the error is; what is missing is missing at the end.
fn place(text: &[u8], error: &io::Error) -> usize {
    let error = error.get_ref().and_then(|error| error.downcast_ref());
    let (Some(DecodeError::InvalidByte(offset, _))
    | Some(DecodeError::InvalidLastSymbol { offset, .. })) = error
    else {
        return text.len();
    };
    let symbols = text.iter().enumerate();
    let mut symbols = symbols.filter(|(_, byte)| !is_break(**byte));
    symbols.nth(*offset).map_or(text.len(), |(at, _)| at)
}

const fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The bytes but for line breaks.
struct WithoutBreaks<'a>(&'a [u8]);

impl Read for WithoutBreaks<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < out.len() && !self.0.is_empty() {
            // Runs between breaks, mostly of one line or of all there is.
            let window = self.0.len().min(out.len() - filled);
            let run = memchr::memchr2(b'\r', b'\n', &self.0[..window]).unwrap_or(window);
            out[filled..filled + run].copy_from_slice(&self.0[..run]);
            filled += run;
            self.0 = &self.0[run..];
            let breaks = self.0.iter().take_while(|byte| is_break(**byte)).count();
            self.0 = &self.0[breaks..];
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::{BLOCK, decode};
    use crate::refusal::Refusal;

    fn decoded(text: &str) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::new();
        decode(text.as_bytes(), &mut |block| {
            bytes.extend_from_slice(block);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// `text` in lines of `width`.
    fn wrapped(text: &str, width: usize, end: &str) -> String {
        let lines: Vec<&str> = (0..text.len())
            .step_by(width)
            .map(|at| &text[at..text.len().min(at + width)])
            .collect();
        lines.join(end)
    }

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 4648, section 10.
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYmFy", "foobar"),
            ("Zm9v\r\nYmFy\n", "foobar"),
            ("\nZ\rg\n=\n=\n", "f"),
        ] {
            assert_eq!(decoded(text), Ok(bytes.as_bytes().to_vec()), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        for (text, at) in [
            ("Zm9v!", 4),
            ("Zm\n9v Zm9v", 5),
            ("Zm-v", 2),
            ("Zm_v", 2),
            ("Zm9é", 3),
            // No padding, half of it, too few symbols for a byte.
            ("Zg", 2),
            ("Zg=", 3),
            ("Z", 1),
            ("Zm9vZ", 5),
            // Bits that no byte is made of.
            ("Zh==", 1),
            ("Zm\n9=", 3),
            // Something behind the padding, and nothing but padding.
            ("Zg==Zg==", 2),
            ("====", 0),
        ] {
            assert_eq!(decoded(text), Err(Refusal::NotBase64(at)), "{text:?}");
        }
    }

    #[test]
    fn an_error_behind_many_blocks_has_its_place() {
        let good = wrapped(&STANDARD.encode(vec![7; 3 * BLOCK]), 76, "\r\n");
        assert_eq!(decoded(&good), Ok(vec![7; 3 * BLOCK]));
        let bad = format!("{good}\r\nAB*D");
        assert_eq!(decoded(&bad), Err(Refusal::NotBase64(good.len() + 4)));
    }

    #[test]
    fn what_the_receiver_refuses_ends_it() {
        let result = decode(b"Zm9v", &mut |_| Err(Refusal::NoSpace));
        assert_eq!(result, Err(Refusal::NoSpace));
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(
            bytes in prop::collection::vec(any::<u8>(), 0..5000),
            width in 1_usize..100,
            end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        ) {
            prop_assert_eq!(decoded(&wrapped(&STANDARD.encode(&bytes), width, end)), Ok(bytes));
        }

        #[test]
        fn nothing_else_is_taken(text in "[A-D=\n !-]{0,12}") {
            let expected = STANDARD.decode(text.replace('\n', "")).ok();
            prop_assert_eq!(decoded(&text).ok(), expected);
        }
    }
}
