//! What each attempt may achieve, and what stops it: the one table behind the
//! demo, the tests and the manual.

use std::fmt;

use super::Ending;

/// What stops an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// There is no handle for it, or nothing behind the handle.
    Capability,
    /// The policy, and the rules of `confine`.
    Policy,
    /// The bounds of a call.
    Bounds,
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Capability => "capability",
            Self::Policy => "policy",
            Self::Bounds => "bounds",
        })
    }
}

/// How an attempt has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// With these error names and no others.
    Refused(&'static str),
    /// With something that is of no use.
    Harmless,
    /// Out of time.
    TimedOut,
    /// Out of memory.
    OutOfMemory,
    /// With the end of its instance.
    Trapped,
}

impl Ends {
    /// Whether an attempt ended so.
    #[must_use]
    pub fn matches(self, ending: &Ending) -> bool {
        match (self, ending) {
            (Self::Refused(expected), Ending::Refused(codes)) => expected == codes,
            (Self::Harmless, Ending::Harmless(_))
            | (Self::TimedOut, Ending::TimedOut)
            | (Self::OutOfMemory, Ending::OutOfMemory)
            | (Self::Trapped, Ending::Trapped) => true,
            _ => false,
        }
    }
}

/// A row: an attempt, how it has to end, and what stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The attempt's name.
    pub name: &'static str,
    /// How it has to end.
    pub ends: Ends,
    /// What stops it.
    pub layer: Layer,
}

macro_rules! expected {
    ($($name:literal: $ends:ident $(($codes:literal))? by $layer:ident;)*) => {
        &[$(Expected {
            name: $name,
            ends: Ends::$ends $(($codes))?,
            layer: Layer::$layer,
        },)*]
    };
}

/// Every attempt, in the component's order.
pub const EXPECTED: &[Expected] = expected! {};
