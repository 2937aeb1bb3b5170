//! The policy by what an operator writes and what a client then sees. Only the
//! public interface is used.

mod directories;
mod files;
mod refusals;

use preopen_contract::policy::Policy;

/// A policy of patterns that are all well-formed.
fn policy(include: &[&str], exclude: &[&str]) -> Policy {
    Policy::new(include, exclude).expect("well-formed patterns")
}
