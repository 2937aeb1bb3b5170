//! The second act: a component that is written to escape gets the same sandbox
//! as the tools, and tries. Each line says what it tried, what it got, and what
//! stopped it, from the table that the tests hold it to.

use std::io::IsTerminal;

use anyhow::{Context, Result, ensure};
use preopen_mcp::hostile::{EXPECTED, Ending, Hostile, World};
use preopen_mcp::{Options, Root};

use super::{say, title};

/// Time of an attempt, in milliseconds: some would never end.
const TIME: u64 = 300;

/// Memory of an attempt, in bytes.
const MEMORY: u64 = 32 << 20;

/// Lets the component try everything, each time in a world of its own.
pub(super) fn run() -> Result<()> {
    title("A component that wants out, in the same sandbox")?;
    let colour = std::io::stdout().is_terminal();
    let attempts = let_in(&World::new()?)?.attempts()?;
    ensure!(
        attempts.len() == EXPECTED.len(),
        "the table does not fit the component"
    );
    let mut stopped = 0;
    for (attempt, row) in attempts.iter().zip(EXPECTED) {
        let world = World::new().context("cannot make a directory to escape from")?;
        let before = world.untouchable()?;
        let ending = let_in(&world)?.run(&attempt.name);
        // On a busy machine an attempt may run out of time before it is refused.
        let ends = row.ends.matches(&ending) || ending == Ending::TimedOut;
        let held = ends && row.name == attempt.name && world.untouchable()? == before;
        let verdict = match (held, colour) {
            (true, true) => format!("\u{1b}[32m{ending}\u{1b}[0m"),
            (false, true) => format!("\u{1b}[31mGOT THROUGH: {ending}\u{1b}[0m"),
            (true, false) => ending.to_string(),
            (false, false) => format!("GOT THROUGH: {ending}"),
        };
        say(&format!(
            "  {}\n    {verdict} [{}]",
            attempt.what, row.layer
        ))?;
        stopped += usize::from(held);
    }
    ensure!(stopped == attempts.len(), "something got through");
    say(&format!(
        "\n{stopped} attempts, none of them got anything; nothing outside has changed."
    ))
}

fn let_in(world: &World) -> Result<Hostile> {
    let mut options: Options = world.options();
    options.limits.call_timeout = TIME;
    options.limits.max_call_memory = MEMORY;
    Ok(Hostile::new(&Root::open(options)?)?)
}
