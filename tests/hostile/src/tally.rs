//! What came of the calls of one attempt, brought into one outcome: anything
//! that was got outweighs every refusal, and a refusal every harmless answer.

use std::collections::BTreeSet;

use wasip2::filesystem::types::ErrorCode;

use crate::bindings::exports::preopen::hostile::attempts::Outcome;

/// The results of one attempt so far.
#[derive(Default)]
pub(crate) struct Tally {
    refusals: BTreeSet<&'static str>,
    gains: Vec<String>,
    harmless: Vec<String>,
}

impl Tally {
    /// A call that must be refused: that it succeeds is a gain.
    pub(crate) fn must_fail<T>(&mut self, what: &str, result: Result<T, ErrorCode>) -> Option<T> {
        if result.is_ok() {
            self.got(what.to_owned());
        }
        self.may_fail(result)
    }

    /// A call that leads up to another: that it succeeds is no gain.
    pub(crate) fn may_fail<T>(&mut self, result: Result<T, ErrorCode>) -> Option<T> {
        result
            .map_err(|code| self.refusals.insert(code.name()))
            .ok()
    }

    /// Something refused without an error code.
    pub(crate) fn refused(&mut self, how: &'static str) {
        self.refusals.insert(how);
    }

    /// Something reached that must not be.
    pub(crate) fn got(&mut self, what: String) {
        self.gains.push(what);
    }

    /// Something reached that may be.
    pub(crate) fn found(&mut self, what: impl Into<String>) {
        self.harmless.push(what.into());
    }

    /// All of it as one outcome.
    pub(crate) fn end(self) -> Outcome {
        if !self.gains.is_empty() {
            Outcome::Got(self.gains.join("; "))
        } else if !self.refusals.is_empty() {
            Outcome::Refused(self.refusals.into_iter().collect::<Vec<_>>().join(", "))
        } else {
            Outcome::Harmless(self.harmless.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use wasip2::filesystem::types::ErrorCode;

    use super::{Outcome, Tally};

    #[test]
    fn refusals_are_named_once_and_in_order() {
        let mut tally = Tally::default();
        tally.found("nothing of interest");
        for code in [ErrorCode::NoEntry, ErrorCode::Access, ErrorCode::NoEntry] {
            assert_eq!(tally.must_fail("it", Err::<(), _>(code)), None);
        }
        assert!(matches!(tally.end(), Outcome::Refused(text) if text == "access, no-entry"));
    }

    #[test]
    fn one_gain_outweighs_every_refusal() {
        let mut tally = Tally::default();
        tally.must_fail("first", Err::<(), _>(ErrorCode::Access));
        assert_eq!(tally.must_fail("second", Ok(7)), Some(7));
        assert!(matches!(tally.end(), Outcome::Got(text) if text == "second"));
    }

    #[test]
    fn every_gain_is_told() {
        let mut tally = Tally::default();
        for number in 0..7 {
            tally.got(number.to_string());
        }
        assert!(matches!(tally.end(), Outcome::Got(text) if text == "0; 1; 2; 3; 4; 5; 6"));
    }

    #[test]
    fn a_step_that_succeeds_is_no_gain() {
        let mut tally = Tally::default();
        tally.may_fail(Ok(()));
        tally.found("it");
        assert!(matches!(tally.end(), Outcome::Harmless(text) if text == "it"));
    }
}
