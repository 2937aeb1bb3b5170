//! Quoting for WebAssembly, where a copy of a number of bytes that only shows
//! at run time is a call of the host: text is looked through in whole blocks,
//! and a short run of it is copied as one of fixed length, the rest taken back.

use super::escape::Escape;

/// Bytes looked at together.
pub(super) const BLOCK: usize = 64;

/// Bytes copied together.
const SHORT: usize = 32;

/// A bit for each byte of a block.
type Mask = u64;

/// Appends what is escaped of `text` as it stands in a JSON string, up to a rest
/// that is hardly longer than a block: the answer is how many quotes and
/// backslashes are in that, and the rest.
pub(super) fn append<'a>(out: &mut String, text: &'a str) -> (usize, &'a str) {
    let bytes = text.as_bytes();
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let (mut doubled, mut copied, mut start) = (0, 0, 0);
    for block in blocks {
        let mut left = specials(block);
        while left != 0 {
            let at = start + left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(escape) = bytes.get(at..).and_then(Escape::of) {
                push(out, &text[copied..], at - copied);
                escape.append(out);
                doubled += escape.doubled;
                copied = at + escape.takes;
            }
        }
        start += BLOCK;
    }
    let plain = text.floor_char_boundary(start).max(copied);
    out.push_str(&text[copied..plain]);
    (doubled, &text[plain..])
}

/// Appends the first `bytes` of `text`.
fn push(out: &mut String, text: &str, bytes: usize) {
    match text.split_at_checked(SHORT) {
        Some((more, _)) if bytes <= SHORT => {
            let end = out.len() + bytes;
            out.push_str(more);
            out.truncate(end);
        }
        _ => out.push_str(&text[..bytes]),
    }
}

/// Which bytes may have to be escaped.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn specials(block: &[u8; BLOCK]) -> Mask {
    use std::arch::wasm32::{
        u8x16_bitmask, u8x16_eq, u8x16_le, u8x16_splat, u64x2, v128_or, v128_xor,
    };

    use super::escape::SEPARATOR;

    let of = |low: [u8; 8], high: [u8; 8]| {
        let bytes = u64x2(u64::from_le_bytes(low), u64::from_le_bytes(high));
        let is = |byte| u8x16_eq(bytes, u8x16_splat(byte));
        // This bit changes places between the space and the quote; control
        // characters stay among themselves.
        let moved = v128_xor(bytes, u8x16_splat(b' ' ^ b'"'));
        let controls_and_quotes = u8x16_le(moved, u8x16_splat(b' '));
        let others = v128_or(is(b'\\'), is(SEPARATOR));
        Mask::from(u8x16_bitmask(v128_or(controls_and_quotes, others)))
    };
    match *block.as_chunks().0 {
        [a, b, c, d, e, f, g, h] => {
            of(a, b) | (of(c, d) << 16) | (of(e, f) << 32) | (of(g, h) << 48)
        }
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
