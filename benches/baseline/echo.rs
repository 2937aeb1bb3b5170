//! The least a line server can be: reads a line, writes it back. What it takes
//! is what the processes, the pipes and the scheduler of the machine take.

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
