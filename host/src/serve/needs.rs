//! How much room there must be before something is done, so that what a client
//! sends and does not wait for takes no memory without bound. It knows neither
//! who waits nor for what.

use preopen_contract::session::Action;

/// What there must be room for before an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// It takes nothing and may free something: a cancellation waits for none.
    Nothing,
    /// It is answered at once.
    Output,
    /// It waits for its turn, and holds so many bytes until it is answered.
    Turn { bytes: usize },
}

impl Needs {
    pub(super) fn of(action: &Action) -> Self {
        match action {
            Action::Nothing | Action::Cancel(_) => Self::Nothing,
            Action::Reply(_) | Action::List(_) => Self::Output,
            Action::Call(call) => Self::Turn { bytes: call.bytes },
            Action::Many(actions) => Self::of_all(actions),
        }
    }

    /// What a batch needs, which is taken as a whole: its answers wait for each
    /// other. Also what a cancellation completes comes so.
    fn of_all(actions: &[Action]) -> Self {
        let bytes = |action: &Action| match action {
            Action::Call(call) => Some(call.bytes),
            _ => None,
        };
        match actions.iter().filter_map(bytes).max() {
            Some(bytes) => Self::Turn { bytes },
            None if actions.iter().any(|one| matches!(one, Action::Cancel(_))) => Self::Nothing,
            None => Self::Output,
        }
    }
}
