//! The component on its own, `wasi:cli/run`: the whole server for a host that
//! knows neither the protocol nor the rules. One instance serves the session,
//! one call after the other; it takes from one call to the next nothing but its
//! settings and what the protocol remembers.

pub(crate) mod guard;
mod leftovers;
mod options;
mod serve;
mod stdio;
mod watch;

use std::rc::Rc;
use std::time::Duration;

use preopen_contract::about;
use preopen_contract::policy::Policy;
use wasip2::cli::environment::get_arguments;

use self::guard::Guard;
use self::options::Invocation;
use self::serve::Server;
use self::stdio::Output;
use crate::bindings::exports::preopen::mcp::tools::{
    CallError, Rules, Settings, ToolResult, Toolset,
};
use crate::{respond, root};

/// Serves stdin and stdout until one of them ends. A command line that asks for nothing that can
/// be done is a line on stderr and a failure: WASI 0.2 knows no other status.
pub(crate) fn run() -> Result<(), ()> {
    let started =
        options::parse(get_arguments().into_iter().skip(1)).and_then(|asked| match asked {
            Invocation::Print(text) => {
                // That nobody reads it is no failure.
                let _ = Output::stdout().write(&text);
                Ok(())
            }
            Invocation::Serve(options) => {
                let server = Server::new(*options)?;
                if server.can_write_nothing() {
                    say(about::NOTHING_WRITABLE);
                }
                server.serve();
                Ok(())
            }
        });
    started.map_err(|problem| say(&problem))
}

/// One call under rules that the host leaves to the component.
pub(crate) fn ruled(
    rules: &Rules,
    settings: &Settings,
    name: &str,
    arguments: String,
) -> Result<ToolResult, CallError> {
    let policy = Policy::new(&rules.include, &rules.exclude).map_err(|_| CallError::BadRules)?;
    let policy = match settings.toolset == Toolset::Core || rules.allow_blocked {
        true => policy,
        false => policy.blocking(),
    };
    let guard = Rc::new(Guard::new(policy, !settings.read_only));
    let root = root::guarded(Rc::clone(&guard));
    let time = settings.limits.call_timeout;
    guard.watch.begin(Duration::from_millis(time), None);
    let answer = respond(settings, name, root.as_ref(), arguments);
    match guard.watch.end() {
        true => Ok(ToolResult {
            structured: None,
            text: Some(late(&format!("{time}ms"))),
            is_error: true,
            kept_for: None,
            unhashed: None,
        }),
        false => answer,
    }
}

/// The refusal of a call that did not end within `limit`.
fn late(limit: &str) -> String {
    format!(
        "the call took longer than {limit} and was stopped (--call-timeout); ask for less at a time"
    )
}

/// Says something on stderr, in one line: a command line may hold anything.
fn say(what: &str) {
    let mut line = format!("{}: ", about::NAME);
    for character in what.chars() {
        if character.is_control() {
            line.extend(character.escape_debug());
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    let _ = Output::stderr().write(&line);
}
