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

use preopen_contract::about;
use wasip2::cli::environment::get_arguments;

use self::options::Invocation;
use self::serve::Server;
use self::stdio::Output;

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
