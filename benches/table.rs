//! The table that a run ends with, and whether every bound in it was kept.

use std::fmt::{self, Display};

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    /// A time in seconds.
    Time(f64),
    /// Memory in MiB.
    Memory(f64),
    /// Calls in a second.
    Rate(f64),
}

impl Amount {
    const fn number(self) -> f64 {
        match self {
            Self::Time(number) | Self::Memory(number) | Self::Rate(number) => number,
        }
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(time) if time < 1e-3 => write!(f, "{:.1} µs", time * 1e6),
            Self::Time(time) if time < 1.0 => write!(f, "{:.2} ms", time * 1e3),
            Self::Time(time) => write!(f, "{time:.2} s"),
            Self::Memory(mebibytes) => write!(f, "{mebibytes:.1} MiB"),
            Self::Rate(rate) => write!(f, "{rate:.0}/s"),
        }
    }
}

/// The most that a row may show.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtMost {
    /// Anything: the row is for information.
    Anything,
    /// This many times the baseline.
    Times(f64),
    /// This amount.
    Amount(Amount),
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) ours: Amount,
    pub(crate) baseline: Option<Amount>,
    pub(crate) at_most: AtMost,
}

impl Row {
    /// A row of two times in seconds.
    pub(crate) fn times(
        work: impl Into<String>,
        (ours, baseline): (f64, f64),
        at_most: AtMost,
    ) -> Self {
        Self {
            work: work.into(),
            ours: Amount::Time(ours),
            baseline: Some(Amount::Time(baseline)),
            at_most,
        }
    }

    /// A row without a baseline.
    pub(crate) fn alone(work: impl Into<String>, ours: Amount, at_most: AtMost) -> Self {
        Self {
            work: work.into(),
            ours,
            baseline: None,
            at_most,
        }
    }

    /// How many times the baseline ours is.
    fn ratio(&self) -> Option<f64> {
        Some(self.ours.number() / self.baseline?.number())
    }

    /// Whether the row shows more than it may.
    pub(crate) fn is_over(&self) -> bool {
        match self.at_most {
            AtMost::Anything => false,
            AtMost::Times(times) => self.ratio().is_none_or(|ratio| ratio > times),
            AtMost::Amount(amount) => self.ours.number() > amount.number(),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "—".to_owned());
        let at_most = match self.at_most {
            AtMost::Anything => None,
            AtMost::Times(times) => Some(format!("{times}×")),
            AtMost::Amount(amount) => Some(amount.to_string()),
        };
        write!(
            f,
            "| {} | {} | {} | {} | {} |",
            self.work,
            self.ours,
            or_dash(self.baseline.map(|baseline| baseline.to_string())),
            or_dash(self.ratio().map(|ratio| format!("{ratio:.2}×"))),
            or_dash(at_most),
        )
    }
}

/// Prints the table to stdout.
pub(crate) fn print(rows: &[Row]) {
    println!("| work | ours | baseline | ratio | at most |");
    println!("|---|--:|--:|--:|--:|");
    for row in rows {
        println!("{row}");
    }
}
