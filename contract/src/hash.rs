//! How a content hash is spelled: what stands before its digits, and the digits
//! of any bytes. It takes no hash itself; each side has its own way to do that.

/// The digits of [`hex`], by value.
pub(crate) const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// How many digits a content hash has: two for each byte of SHA-256 (FIPS 180-4).
pub const LENGTH: usize = 64;

/// What stands before the digits: of HMAC-SHA-256 (RFC 2104) where it is
/// `keyed`, else of SHA-256.
#[must_use]
pub const fn prefix(keyed: bool) -> &'static str {
    match keyed {
        true => "hmac-sha256:",
        false => "sha256:",
    }
}

/// Appends `bytes` in lowercase hex.
pub fn hex(out: &mut String, bytes: &[u8]) {
    out.reserve(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn every_byte_has_two_digits() {
        for byte in 0..=u8::MAX {
            let mut text = String::from("x");
            hex(&mut text, &[byte]);
            assert_eq!(text, format!("x{byte:02x}"));
        }
    }
}
