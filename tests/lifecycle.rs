//! How the process starts and ends: at the end of input, by a signal, when a
//! stream is closed; always quietly, and idle or busy.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Launch, PATIENCE, Root, Server, call, request};

/// A server in the middle of a call that would go on for many seconds.
fn busy(root: &Root) -> Server {
    let mut server = Launch::new(root).busy("long");
    server.alive();
    server
}

#[test]
fn the_end_of_input_at_once_exits_0() {
    let root = Root::new();
    assert!(Server::new(&root).close().is_empty());
}

#[test]
fn the_end_of_input_after_a_call_exits_0() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Server::new(&root);
    assert_eq!(server.read("a.txt"), "x");
    assert!(server.close().is_empty());
}

#[test]
fn the_end_of_input_during_a_long_call_exits_0_without_its_answer() {
    let root = Root::new().haystack();
    let messages = busy(&root).close();
    assert!(messages.is_empty(), "{messages:?}");
}

#[test]
fn a_null_stdin_exits_0() {
    let root = Root::new();
    let exit = Launch::new(&root)
        .with(|command| command.stdin(Stdio::null()))
        .spawn()
        .wait();
    assert_eq!(
        (exit.code, exit.stdout.len(), exit.stderr.as_str()),
        (Some(0), 0, "")
    );
}

#[test]
fn what_was_received_before_the_end_of_input_is_answered() {
    let root = Root::new().file("a.txt", "line\n".repeat(1000));
    let mut server = Server::new(&root);
    server.send_all(
        &(0..40)
            .map(|id| call(id, "search_text", json!({"query": "line", "limit": 5})))
            .collect::<Vec<_>>(),
    );
    let mut ids: Vec<u64> = server
        .close()
        .iter()
        .map(|message| message.json["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..40).collect::<Vec<_>>());
}

macro_rules! signals {
    ($($name:ident: $signal:ident, $busy:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = if $busy { Root::new().haystack() } else { Root::new() };
            let server = if $busy {
                busy(&root)
            } else {
                let mut server = Server::new(&root);
                server.alive();
                server
            };
            let (messages, exit) = server.stop(Signal::$signal);
            assert_eq!((exit.code, exit.stderr.as_str(), messages.len()), (Some(0), "", 0));
        }
    )+};
}

signals! {
    sigterm_when_idle_exits_0: TERM, false;
    sigterm_when_busy_exits_0: TERM, true;
    sigint_when_idle_exits_0: INT, false;
    sigint_when_busy_exits_0: INT, true;
    sighup_when_idle_exits_0: HUP, false;
    sighup_when_busy_exits_0: HUP, true;
}

#[test]
fn sigterm_right_after_the_start_leaves_no_trace() {
    let root = Root::new();
    for _ in 0..5 {
        let mut process = Launch::new(&root).spawn();
        process.signal(Signal::TERM);
        let exit = process.wait();
        assert!(matches!(exit.code, Some(0) | None), "{exit:?}");
        assert_eq!((exit.stdout.len(), exit.stderr.as_str()), (0, ""));
    }
}

/// Rather than by a sleep, time passes while another server runs a call that
/// is stopped after a second.
#[test]
fn a_quiet_input_is_not_its_end_and_costs_nothing() {
    let root = Root::new().haystack().file("a.txt", "x");
    let mut server = Server::new(&root);
    assert_eq!(server.read("a.txt"), "x");
    let Some(mut before) = server.wakings() else {
        eprintln!("SKIPPED: this system does not say how often a process was woken");
        return;
    };
    let limits = ["--call-timeout", "1s", "--max-scan-bytes", "1024GiB"];
    let mut clock = Launch::new(&root).args(limits).start();
    // It may be busy for a moment after an answer, and never again.
    let is_idle = (0..10).any(|_| {
        clock
            .call("search_text", json!({"query": "needle"}))
            .refused_naming(&["--call-timeout"]);
        let after = server.wakings();
        std::mem::replace(&mut before, after.unwrap_or_default()) == before
    });
    assert!(is_idle, "something goes on without a request");
    assert_eq!(server.read("a.txt"), "x");
    clock.close();
    server.close();
}

#[test]
fn a_closed_stdout_ends_the_server_quietly() {
    let root = Root::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut process = Launch::new(&root)
        .with(|command| command.stdout(writer))
        .spawn();
    let line = format!("{}\n", call(1, "list_directory", json!({})));
    // The server may be gone before everything is written.
    while process.try_write(line.as_bytes()).is_ok() {}
    let exit = process.wait();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_closed_stderr_does_not_matter() {
    let root = Root::new().file("src/a.txt", "x");
    // The first warns at start, the second speaks all the time.
    for (include, arguments) in [("src/**", &[][..] as &[&str]), ("**", &["-v"])] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let launch = Launch::new(&root).include(&[include]).args(arguments);
        let mut server = launch.with(|command| command.stderr(writer)).start();
        server.provoke("not json\n");
        assert_eq!(server.read("src/a.txt"), "x");
        let (_, exit) = server.finish();
        assert_eq!(exit.code, Some(0));
    }
}

#[test]
fn too_few_descriptors_show_at_the_start_or_not_at_all() {
    let root = Root::new();
    for descriptors in 4..12 {
        let mut process = Launch::after(&format!("ulimit -n {descriptors}"), &root).spawn();
        // It may be gone before it has read this.
        let _ = process.try_write(format!("{}\n", request(1, "tools/list", json!({}))).as_bytes());
        drop(process.take_stdin());
        let exit = process.wait();
        let answer = String::from_utf8(exit.stdout).unwrap();
        if exit.code == Some(0) {
            assert!(answer.contains("\"result\":"), "{descriptors}: {answer}");
        } else {
            assert_eq!(answer, "");
            assert_eq!(exit.stderr.lines().count(), 1, "{}", exit.stderr);
            assert!(exit.stderr.starts_with("preopen-mcp: "), "{}", exit.stderr);
        }
    }
}

#[test]
fn two_servers_share_a_root() {
    let root = Root::new();
    let mut one = Server::new(&root);
    let mut two = Server::new(&root);
    one.call(
        "write_text_file",
        json!({"path": "shared.txt", "content": "from one"}),
    )
    .value();
    assert_eq!(two.read("shared.txt"), "from one");
    two.call(
        "write_text_file",
        json!({"path": "shared.txt", "content": "from two"}),
    )
    .value();
    assert_eq!(one.read("shared.txt"), "from two");
    one.close();
    assert_eq!(two.read("shared.txt"), "from two");
    two.close();
}

#[test]
fn a_client_that_writes_everything_before_it_reads_is_no_deadlock() {
    let root = Root::new().file("big.txt", "line of text\n".repeat(2000));
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command
        .arg("--root")
        .arg(root.path())
        .args(["--include", "**"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (send, done) = channel();
    thread::spawn(move || {
        for id in 0..3000 {
            let line = call(id, "read_text_file", json!({"path": "big.txt", "limit": 1}));
            stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        let answers = BufReader::new(stdout).lines().take(3000).count();
        drop(stdin);
        send.send(answers).unwrap();
    });
    let answers = done.recv_timeout(PATIENCE);
    if answers.is_err() {
        child.kill().unwrap();
    }
    assert_eq!(answers, Ok(3000));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_last_answers_are_written_whole_to_a_slow_reader() {
    let root = Root::new().file("big.txt", "line of text\n".repeat(5000));
    let mut server = Server::new(&root);
    // More than a pipe holds, and little enough for any machine.
    let ids = 0..40;
    server.send_all(
        &ids.clone()
            .map(|id| call(id, "read_text_file", json!({"path": "big.txt"})))
            .collect::<Vec<_>>(),
    );
    server.send(&request("end", "tools/list", json!({})));
    assert_eq!(server.close().len(), ids.len() + 1);
}
