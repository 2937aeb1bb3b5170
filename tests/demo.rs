//! `preopen-mcp demo`: what it shows, and that nothing of it stays.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::Signal;

use crate::harness::{Process, Root};

/// The demo with its temporary files in the root.
fn demo(root: &Root, stdout: impl Into<Stdio>) -> Process {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command.arg("demo").env("TMPDIR", root.path());
    command
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped());
    Process::spawn(command)
}

#[test]
fn demo_shows_refusals_and_leaves_nothing_behind() {
    let root = Root::new();
    let exit = demo(&root, Stdio::piped()).wait();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    assert!(
        String::from_utf8(exit.stdout)
            .unwrap()
            .contains("refused: ")
    );
    assert_eq!(root.names(), Vec::<String>::new());
}

/// Whoever watched it has seen enough, or ends it.
#[test]
fn demo_that_is_ended_leaves_nothing_behind() {
    for signal in [None, Some(Signal::INT), Some(Signal::TERM)] {
        let root = Root::new();
        let (reader, writer) = std::io::pipe().unwrap();
        let mut process = demo(&root, writer);
        let mut reader = BufReader::new(reader);
        let mut line = String::new();
        while !line.contains("get out") && !line.contains("wants out") {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0, "it has ended");
        }
        assert_ne!(root.names(), Vec::<String>::new());
        match signal {
            None => drop(reader),
            Some(signal) => {
                process.signal(signal);
                std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
            }
        }
        let exit = process.wait();
        // By a signal, as any other program.
        let code = signal.is_none().then_some(0);
        assert_eq!((exit.code, exit.stderr.as_str()), (code, ""), "{signal:?}");
        assert_eq!(root.names(), Vec::<String>::new(), "{signal:?}");
    }
}
