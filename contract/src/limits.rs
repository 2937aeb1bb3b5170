//! Every bound of the product: its flag, its default for each toolset, the
//! range it may be set to, and what it bounds. Nothing else states a number.

use thiserror::Error;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const PIB: u64 = 1 << 50;

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; `KiB`, `MiB`, `GiB`, `TiB` and `PiB` may follow the number.
    Bytes,
    /// A plain number.
    Count,
    /// Milliseconds; given in seconds (`30`, `30s`) or as `500ms`.
    Milliseconds,
}

/// One row of [`Limits::TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The flag's name, without its dashes.
    pub flag: &'static str,
    /// The default of toolset core.
    pub core: u64,
    /// The default of toolset workspace.
    pub workspace: u64,
    /// The least and the greatest value accepted.
    pub range: (u64, u64),
    /// What it counts.
    pub unit: Unit,
    /// What it bounds, in the user's words.
    pub about: &'static str,
}

/// A value that a flag does not accept. The text names no flag: who reports it does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// Not a number of the flag's unit.
    #[error("`{0}` is not {1}")]
    NotANumber(String, &'static str),
    /// A number below the range.
    #[error("must be at least {0}")]
    TooSmall(String),
    /// A number above the range.
    #[error("must be at most {0}")]
    TooLarge(String),
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $field:ident, $flag:literal, $core:expr, $workspace:expr, $range:expr, $unit:ident;)+) => {
        /// The bounds in force. Times are milliseconds, sizes bytes.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $field: u64,)+
        }

        impl Limits {
            /// Every limit there is, in the order the manual shows them.
            pub const TABLE: &'static [Limit] = &[
                $(Limit {
                    flag: $flag,
                    core: $core,
                    workspace: $workspace,
                    range: $range,
                    unit: Unit::$unit,
                    about: concat!($($doc),+),
                },)+
            ];

            /// The defaults of toolset core.
            #[must_use]
            pub const fn core() -> Self {
                Self { $($field: $core,)+ }
            }

            /// The defaults of toolset workspace.
            #[must_use]
            pub const fn workspace() -> Self {
                Self { $($field: $workspace,)+ }
            }

            /// The field that `flag` sets, if there is such a flag.
            pub fn field(&mut self, flag: &str) -> Option<&mut u64> {
                match flag {
                    $($flag => Some(&mut self.$field),)+
                    _ => None,
                }
            }

            /// The value in force for `flag` as the manual and the errors show
            /// it; empty if there is no such flag.
            #[must_use]
            pub fn shown(&self, flag: &str) -> String {
                let value = match flag {
                    $($flag => self.$field,)+
                    _ => return String::new(),
                };
                Self::TABLE
                    .iter()
                    .find(|limit| limit.flag == flag)
                    .map_or_else(String::new, |limit| limit.display(value))
            }
        }
    };
}

limits! {
    /// largest file that is read; search_text skips larger ones
    max_file_bytes, "max-file-bytes", GIB, 100 * MIB, (1, PIB), Bytes;
    /// largest content that is written
    max_write_bytes, "max-write-bytes", 64 * KIB, 100 * MIB, (1, GIB), Bytes;
    /// largest result of one call, as JSON on the wire
    max_result_bytes, "max-result-bytes", 48_000, 48_000, (32 * KIB, 64 * MIB), Bytes;
    /// bytes that one search call scans before it hands back a cursor
    max_scan_bytes, "max-scan-bytes", 64 * MIB, 64 * MIB, (MIB, PIB), Bytes;
    /// directory entries that one call visits
    max_entries, "max-entries", 1_000_000, 1_000_000, (1, 1_000_000_000_000), Count;
    /// directories below one another that one call enters
    max_depth, "max-depth", 64, 64, (1, 512), Count;
    /// time of one call
    call_timeout, "call-timeout", 30_000, 30_000, (1, 86_400_000), Milliseconds;
    /// memory of one call
    max_call_memory, "max-call-memory", 512 * MIB, 512 * MIB, (2 * MIB, 4 * GIB), Bytes;
    /// longest line a client may send
    max_request_bytes, "max-request-bytes", 16 * MIB, 160 * MIB, (KIB, 2 * GIB), Bytes;
    /// calls that run at the same time; 0 means one for each processor core
    workers, "workers", 0, 0, (0, 64), Count;
}

impl Limit {
    /// Reads a value as the command line spells it.
    ///
    /// # Errors
    /// When it is not a number of this unit, or outside [`Limit::range`].
    pub fn parse(&self, text: &str) -> Result<u64, LimitError> {
        let expected = match self.unit {
            Unit::Bytes => "a number of bytes, such as 65536 or 64MiB",
            Unit::Count => "a number",
            Unit::Milliseconds => "a time, such as 30s or 500ms",
        };
        let scales: &[(&str, u64)] = match self.unit {
            Unit::Bytes => &[
                ("KiB", KIB),
                ("MiB", MIB),
                ("GiB", GIB),
                ("TiB", TIB),
                ("PiB", PIB),
                ("", 1),
            ],
            Unit::Count => &[("", 1)],
            Unit::Milliseconds => &[("ms", 1), ("s", 1000), ("", 1000)],
        };
        let (digits, scale) = scales
            .iter()
            .find_map(|(suffix, scale)| Some((text.strip_suffix(suffix)?, scale)))
            .filter(|(digits, _)| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
            .ok_or_else(|| LimitError::NotANumber(text.to_owned(), expected))?;
        // What no u64 holds is above every range.
        let value = digits
            .parse::<u64>()
            .map_or(u64::MAX, |number| number.saturating_mul(*scale));
        let (least, greatest) = self.range;
        if value < least {
            Err(LimitError::TooSmall(self.display(least)))
        } else if value > greatest {
            Err(LimitError::TooLarge(self.display(greatest)))
        } else {
            Ok(value)
        }
    }

    /// Its default, and that of a workspace where it is another.
    #[must_use]
    pub fn defaults(&self) -> String {
        let core = self.display(self.core);
        if self.workspace == self.core {
            return core;
        }
        format!("{core}; workspace: {}", self.display(self.workspace))
    }

    /// `value` as the manual and the errors show it; [`Limit::parse`] reads it back.
    #[must_use]
    pub fn display(&self, value: u64) -> String {
        let scales: &[(&str, u64)] = match self.unit {
            Unit::Bytes => &[
                ("PiB", PIB),
                ("TiB", TIB),
                ("GiB", GIB),
                ("MiB", MIB),
                ("KiB", KIB),
            ],
            Unit::Count => &[],
            Unit::Milliseconds => &[("s", 1000), ("ms", 1)],
        };
        match scales
            .iter()
            .find(|(_, scale)| value >= *scale && value.is_multiple_of(*scale))
        {
            Some((suffix, scale)) => format!("{}{suffix}", value / scale),
            None => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LimitError, Limits};

    #[test]
    fn every_default_is_in_range_and_its_text_reads_back() {
        for limit in Limits::TABLE {
            for value in [limit.core, limit.workspace, limit.range.0, limit.range.1] {
                assert_eq!(
                    limit.parse(&limit.display(value)),
                    Ok(value),
                    "{}",
                    limit.flag
                );
            }
        }
    }

    #[test]
    fn every_flag_sets_its_own_field() {
        for limit in Limits::TABLE {
            let mut limits = Limits::core();
            *limits.field(limit.flag).expect("a field") += 1;
            let mut other = Limits::core();
            assert_ne!(limits, other);
            *other.field(limit.flag).expect("a field") += 1;
            assert_eq!(limits, other);
        }
        assert!(Limits::core().field("max-nothing").is_none());
    }

    #[test]
    fn values_that_are_no_number_are_refused() {
        let file = &Limits::TABLE[0];
        for text in ["", "x", "-1", "1.5", "1e3", "KiB", "+1", "1 MiB", "1mib"] {
            assert!(
                matches!(file.parse(text), Err(LimitError::NotANumber(..))),
                "{text}"
            );
        }
        assert_eq!(file.parse("64KiB"), Ok(65536));
        assert_eq!(file.parse("1TiB"), Ok(1 << 40));
    }

    #[test]
    fn a_value_out_of_range_is_refused_by_the_end_it_lies_beyond() {
        let file = &Limits::TABLE[0];
        assert_eq!(file.parse("0"), Err(LimitError::TooSmall("1".to_owned())));
        for text in [
            "2PiB",
            "1125899906842625",
            "99999999999999999999",
            "18446744073709551615KiB",
        ] {
            let error = file.parse(text).expect_err("too large");
            assert_eq!(error.to_string(), "must be at most 1PiB", "{text}");
        }
    }
}
