//! The table that a run ends with, and whether every bound in it was kept.

use std::fmt::{self, Display, Write};

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    /// A time in seconds.
    Time(f64),
    /// Memory in MiB.
    Memory(f64),
    /// Calls in a second.
    Rate(f64),
    /// The power of the size that a time grows with.
    Exponent(f64),
}

impl Amount {
    const fn number(self) -> f64 {
        match self {
            Self::Time(number)
            | Self::Memory(number)
            | Self::Rate(number)
            | Self::Exponent(number) => number,
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
            Self::Exponent(exponent) => write!(f, "size^{exponent:.2}"),
        }
    }
}

/// What a row may show.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// Anything: the row is for information.
    None,
    /// This many times the baseline at most.
    AtMostTimes(f64),
    /// This part of the baseline at least: ours is better the greater it is.
    AtLeastOneIn(f64),
    /// This amount at most.
    AtMost(Amount),
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    work: String,
    /// None where it could not be measured.
    ours: Option<Amount>,
    baseline: Option<Amount>,
    bound: Bound,
}

impl Row {
    /// A row of two amounts of one kind.
    pub(crate) fn new(
        work: impl Into<String>,
        ours: Amount,
        baseline: Amount,
        bound: Bound,
    ) -> Self {
        Self {
            work: work.into(),
            ours: Some(ours),
            baseline: Some(baseline),
            bound,
        }
    }

    /// A row of two times in seconds.
    pub(crate) fn times(
        work: impl Into<String>,
        (ours, baseline): (f64, f64),
        bound: Bound,
    ) -> Self {
        Self::new(work, Amount::Time(ours), Amount::Time(baseline), bound)
    }

    /// A row without a baseline.
    pub(crate) fn alone(work: impl Into<String>, ours: Amount, bound: Bound) -> Self {
        Self {
            work: work.into(),
            ours: Some(ours),
            baseline: None,
            bound,
        }
    }

    /// A row that could not be measured. If it has a bound, that is not kept.
    pub(crate) fn missing(work: impl Into<String>, bound: Bound) -> Self {
        Self {
            work: work.into(),
            ours: None,
            baseline: None,
            bound,
        }
    }

    /// How many times the baseline ours is.
    fn ratio(&self) -> Option<f64> {
        Some(self.ours?.number() / self.baseline?.number())
    }

    /// Whether the row does not keep its bound.
    pub(crate) fn is_over(&self) -> bool {
        match self.bound {
            Bound::None => false,
            Bound::AtMostTimes(times) => self.ratio().is_none_or(|ratio| ratio > times),
            Bound::AtLeastOneIn(part) => self.ratio().is_none_or(|ratio| ratio < 1.0 / part),
            Bound::AtMost(amount) => self.ours.is_none_or(|ours| ours.number() > amount.number()),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "—".to_owned());
        let bound = match self.bound {
            Bound::None => None,
            Bound::AtMostTimes(times) => Some(format!("{times}×")),
            Bound::AtLeastOneIn(part) => Some(format!("1/{part} of it at least")),
            Bound::AtMost(amount) => Some(amount.to_string()),
        };
        write!(
            f,
            "| {} | {} | {} | {} | {} |",
            self.work,
            self.ours
                .map_or_else(|| "not measured".to_owned(), |ours| ours.to_string()),
            or_dash(self.baseline.map(|baseline| baseline.to_string())),
            or_dash(self.ratio().map(|ratio| format!("{ratio:.2}×"))),
            or_dash(bound),
        )
    }
}

/// The rows as a markdown table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut table = String::from("| work | ours | baseline | ratio | at most |\n");
    table.push_str("|---|--:|--:|--:|--:|\n");
    for row in rows {
        let _ = writeln!(table, "{row}");
    }
    table
}
