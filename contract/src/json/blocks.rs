//! Quoting for WebAssembly, where a copy of a number of bytes that only shows
//! at run time is a call of the host: text is copied in whole blocks, and what
//! is too much of the last one is taken back before an escape.

use super::escape::Escape;

/// Bytes looked at and copied together.
pub(super) const BLOCK: usize = 32;

/// A bit for each byte of a block.
type Mask = u32;

/// Appends what is escaped of `text` as it stands in a JSON string, up to a rest
/// that is shorter than a block: the answer is how many quotes and backslashes
/// are in that, and the rest.
pub(super) fn append<'a>(out: &mut String, mut text: &'a str) -> (usize, &'a str) {
    let mut doubled = 0;
    while let Some(block) = text.as_bytes().first_chunk::<BLOCK>() {
        let specials = specials(block);
        // The first of these ends between characters.
        macro_rules! copied {
            ($($bytes:expr),*) => {
                $(if let Some((head, rest)) = text.split_at_checked($bytes) {
                    out.push_str(head);
                    ($bytes, rest)
                } else)* {
                    break;
                }
            };
        }
        let (copied, mut rest) = copied!(BLOCK, BLOCK - 1, BLOCK - 2, BLOCK - 3);
        let mut left = specials & (Mask::MAX >> (BLOCK - copied));
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            if let Some(escape) = text.as_bytes().get(at..).and_then(Escape::of) {
                out.truncate(out.len() - (copied - at));
                escape.append(out);
                doubled += escape.doubled;
                rest = &text[at + escape.takes..];
                break;
            }
            left &= left - 1;
        }
        text = rest;
    }
    (doubled, text)
}

/// Which bytes may have to be escaped.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn specials(block: &[u8; BLOCK]) -> Mask {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};

    use super::escape::SEPARATOR;

    let half = |low: [u8; 8], high: [u8; 8]| {
        let bytes = u64x2(u64::from_le_bytes(low), u64::from_le_bytes(high));
        let is = |byte| u8x16_eq(bytes, u8x16_splat(byte));
        let controls = u8x16_lt(bytes, u8x16_splat(0x20));
        let others = v128_or(v128_or(is(b'"'), is(b'\\')), is(SEPARATOR));
        Mask::from(u8x16_bitmask(v128_or(controls, others)))
    };
    match *block.as_chunks::<8>().0 {
        [a, b, c, d] => half(a, b) | (half(c, d) << (BLOCK / 2)),
        _ => Mask::MAX,
    }
}

/// The same where only the tests of the rest are run.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn specials(block: &[u8; BLOCK]) -> Mask {
    let bits = block.iter().enumerate();
    bits.fold(0, |mask, (at, byte)| {
        mask | (Mask::from(super::escape::may_be_special(*byte)) << at)
    })
}
