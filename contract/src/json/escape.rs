//! The characters that are escaped in a JSON string as this project writes it,
//! and how. Where they stand in a text is found elsewhere.

/// What stands for the control characters (RFC 8259, section 7), by value.
const CONTROLS: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b",
    "\\t", "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012",
    "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a",
    "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
];

/// What the separators that are escaped as well begin with.
pub(super) const SEPARATOR: u8 = 0xE2;

/// Whether a character that begins with `byte` may have to be escaped.
pub(super) const fn may_be_special(byte: u8) -> bool {
    matches!(byte, 0..0x20 | b'"' | b'\\' | SEPARATOR)
}

/// How a character is escaped.
pub(super) struct Escape {
    text: &'static str,
    /// The bytes of the character itself.
    pub(super) takes: usize,
    /// The quotes and backslashes in `text`.
    pub(super) doubled: usize,
}

impl Escape {
    /// That of the character `bytes` begin with, if it has to be escaped.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let (text, takes, doubled) = match *bytes {
            [byte @ 0..0x20, ..] => (CONTROLS[usize::from(byte)], 1, 1),
            [b'"', ..] => ("\\\"", 1, 2),
            [b'\\', ..] => ("\\\\", 1, 2),
            [SEPARATOR, 0x80, 0xA8, ..] => ("\\u2028", 3, 1),
            [SEPARATOR, 0x80, 0xA9, ..] => ("\\u2029", 3, 1),
            _ => return None,
        };
        Some(Self {
            text,
            takes,
            doubled,
        })
    }

    /// Appends it.
    pub(super) fn append(&self, out: &mut String) {
        // A copy of so many bytes as the compiler knows is none but in name; of
        // any other number it is a call, in WebAssembly one of the host.
        match self.text.split_at_checked(2) {
            Some((short, "")) => out.push_str(short),
            _ => out.push_str(self.text),
        }
    }
}
