//! Which bytes of a block mean something inside a JSON string, all at once. It
//! knows nothing of what they mean.

/// Bytes in a block.
pub(super) const BLOCK: usize = 64;

/// Bytes in a part of a block that moves at once.
pub(super) const LANE: usize = 16;

/// A bit for each byte of `block` that is a quote, a backslash or a control
/// character, the first byte's being the lowest.
pub(super) fn special(block: &[u8; BLOCK]) -> u64 {
    vectors::special(block)
}

/// A bit for each byte of `block` that is one of these.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) backslash: u64,
    /// The letter u, behind which an escape has digits.
    pub(super) unit: u64,
    /// A quote or a control character.
    pub(super) end: u64,
}

/// What may be found in `block`.
pub(super) fn marks(block: &[u8; BLOCK]) -> Marks {
    vectors::marks(block)
}

/// How many bytes of `lane` stand before its first backslash.
pub(super) fn first_backslash(lane: &[u8; LANE]) -> usize {
    vectors::first_backslash(lane)
}

/// By the instructions that WebAssembly has for it.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vectors {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128, v128_or};

    use super::{BLOCK, LANE, Marks};

    pub(super) fn special(block: &[u8; BLOCK]) -> u64 {
        bits(block, |lane| v128_or(end(lane), backslash(lane)))
    }

    pub(super) fn marks(block: &[u8; BLOCK]) -> Marks {
        Marks {
            backslash: bits(block, backslash),
            unit: bits(block, |lane| u8x16_eq(lane, u8x16_splat(b'u'))),
            end: bits(block, end),
        }
    }

    fn bits(block: &[u8; BLOCK], find: impl Fn(v128) -> v128) -> u64 {
        let (lanes, _) = block.as_chunks();
        lanes.iter().rev().fold(0, |bits, lane| {
            bits << LANE | u64::from(u8x16_bitmask(find(vector(lane))))
        })
    }

    fn end(lane: v128) -> v128 {
        let control = u8x16_lt(lane, u8x16_splat(0x20));
        v128_or(control, u8x16_eq(lane, u8x16_splat(b'"')))
    }

    pub(super) fn first_backslash(lane: &[u8; LANE]) -> usize {
        let found = u32::from(u8x16_bitmask(backslash(vector(lane))));
        (found | 1 << LANE).trailing_zeros() as usize
    }

    fn backslash(lane: v128) -> v128 {
        u8x16_eq(lane, u8x16_splat(b'\\'))
    }

    fn vector(lane: &[u8; LANE]) -> v128 {
        let lane = u128::from_le_bytes(*lane);
        u64x2(lane as u64, (lane >> 64) as u64)
    }
}

/// In a form that compilers find instructions for.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod vectors {
    use super::{BLOCK, LANE, Marks};

    /// Bytes whose bits are put together at once.
    const WORD: usize = 8;

    pub(super) fn special(block: &[u8; BLOCK]) -> u64 {
        bits(block, |byte| {
            (byte < 0x20) | (byte == b'"') | (byte == b'\\')
        })
    }

    pub(super) fn marks(block: &[u8; BLOCK]) -> Marks {
        Marks {
            backslash: bits(block, |byte| byte == b'\\'),
            unit: bits(block, |byte| byte == b'u'),
            end: bits(block, |byte| (byte < 0x20) | (byte == b'"')),
        }
    }

    fn bits(block: &[u8; BLOCK], is_meant: impl Fn(u8) -> bool) -> u64 {
        let found = block.map(|byte| u8::from(is_meant(byte)));
        let (words, _) = found.as_chunks::<WORD>();
        words.iter().rev().fold(0, |bits, word| {
            // A product of bits of which no two meet; those wanted are on top.
            let gathered = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits << WORD | gathered
        })
    }

    pub(super) fn first_backslash(lane: &[u8; LANE]) -> usize {
        let place = lane.iter().position(|byte| *byte == b'\\');
        place.unwrap_or(LANE)
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, LANE, Marks, first_backslash, marks, special};

    #[test]
    fn every_byte_at_every_place_is_told_apart() {
        for filler in [b'a', 0xFF, b'"', b'\\', 0x1F] {
            for (at, byte) in (0..BLOCK).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
                let mut block = [filler; BLOCK];
                block[at] = byte;
                let bits = |is: fn(&u8) -> bool| {
                    let bits = block.iter().rev().map(is);
                    bits.fold(0_u64, |bits, bit| bits << 1 | u64::from(bit))
                };
                let expected = Marks {
                    backslash: bits(|byte| *byte == b'\\'),
                    unit: bits(|byte| *byte == b'u'),
                    end: bits(|byte| *byte < 0x20 || *byte == b'"'),
                };
                assert_eq!(marks(&block), expected, "{at} {byte}");
                let expected = expected.backslash | expected.end;
                assert_eq!(special(&block), expected, "{at} {byte}");
                let (lanes, _) = block.as_chunks::<LANE>();
                let lane = lanes[at / LANE];
                let expected = lane.iter().position(|byte| *byte == b'\\');
                assert_eq!(
                    first_backslash(&lane),
                    expected.unwrap_or(LANE),
                    "{at} {byte}"
                );
            }
        }
    }
}
