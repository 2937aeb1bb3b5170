//! What a call comes to once its component has answered, or has been stopped.
//! It knows neither how the component ran nor what the client is sent.

use preopen_contract::session::{Outcome, ToolResult};

use super::bindings::exports::preopen::mcp::tools::{self, CallError};
use super::{Control, Ended, Interruption, Sandbox, hashing};
use crate::component;
use crate::hasher::Written;

impl Sandbox {
    /// What became of a call of the tool `name`.
    pub(super) fn outcome(
        &self,
        name: &str,
        control: &Control,
        ended: Ended<Result<tools::ToolResult, CallError>>,
    ) -> Outcome {
        if ended.result.is_err() {
            // It may have been stopped in the middle of a host call.
            control.check();
        }
        match ended.result {
            Ok(Ok(mut answer)) => {
                let written = ended.written;
                let Some((structured, text)) = self.hashed(&mut answer, written) else {
                    crate::diagnostics::report(&format_args!("{name} left no place for a hash"));
                    return Outcome::Internal;
                };
                let answer = ToolResult {
                    structured,
                    text,
                    is_error: answer.is_error,
                };
                match self.foreign {
                    true => self.foreign(name, control, answer),
                    false => Outcome::Result(answer),
                }
            }
            Ok(Err(CallError::UnknownTool)) => Outcome::UnknownTool(name.to_owned()),
            Ok(Err(CallError::NoRoot | CallError::BadRules)) => Outcome::Internal,
            Err(_) if control.interruption() == Some(Interruption::TimedOut) => {
                self.past(control, "call-timeout", "took longer than")
            }
            Err(_) if control.interruption().is_some() => Outcome::Stopped,
            Err(_) if ended.memory_ran_out => {
                self.past(control, "max-call-memory", "needed more memory than")
            }
            Err(error) => {
                crate::diagnostics::report(&format_args!("{name} was stopped: {error:#}"));
                Outcome::Internal
            }
        }
    }

    /// What an answer says, with its content hash; nothing where it has no
    /// place for the one it asks for.
    fn hashed(
        &self,
        answer: &mut tools::ToolResult,
        written: Option<Box<Written>>,
    ) -> Option<(Option<String>, Option<String>)> {
        let (structured, text) = (answer.structured.take(), answer.text.take());
        let Some(unhashed) = answer.unhashed.take() else {
            return Some((structured, text));
        };
        let key = self.settings.hash_key.as_deref();
        let (structured, text) =
            hashing::complete(structured?, text, &unhashed, key, written.map(|it| *it))?;
        Some((Some(structured), text))
    }

    /// The answer of a component that is not ours.
    fn foreign(&self, name: &str, control: &Control, answer: ToolResult) -> Outcome {
        if component::size(&answer) as u64 > self.chamber.limits().max_result_bytes {
            return self.past(control, "max-result-bytes", "answered with more than");
        }
        component::result(answer).map_or_else(
            || {
                crate::diagnostics::report(&format_args!("{name} answered what is no JSON object"));
                Outcome::Internal
            },
            Outcome::Result,
        )
    }

    /// The refusal of a call that went past a limit.
    fn past(&self, control: &Control, flag: &'static str, what: &str) -> Outcome {
        control.went_past(flag);
        let limit = self.chamber.limits().shown(flag);
        Outcome::Result(ToolResult::refusal(format!(
            "the call {what} {limit} and was stopped (--{flag}); ask for less at a time"
        )))
    }
}
