//! What a connection does where the system fails it, or its own code does; what
//! it does otherwise is tested end to end.

use std::io::{self, Read, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use preopen_contract::session::Protocol;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Events, THREADS, Threads, serve};
use crate::root::{Options, Root};
use crate::server::Server;

mod turns;

/// No wait here is meant to come to its end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the directory it serves as long as that is kept.
fn server() -> (Server, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut options = Options::new(directory.path(), ["**"]);
    options.protocol = Protocol::Legacy;
    let root = Root::open(options).expect("a root");
    (Server::new(root).expect("a server"), directory)
}

/// Serves until the input ends; nothing if that panics.
fn served<R: Read + Send, W: Write + Send>(
    input: R,
    output: W,
    threads: &Threads,
) -> Option<io::Result<()>> {
    let (server, _directory) = server();
    let events = Events {
        input_ended: &|| {},
        input_closed: &|| false,
        output_broken: &|| {},
    };
    let serve = || serve(&server, input, output, &events, threads);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(serve)).ok()
}

/// As [`served`], on a thread of its own, which must end in time.
fn ends<R: Read + Send + 'static, W: Write + Send + 'static>(
    input: R,
    output: W,
    threads: Threads,
) -> Option<io::Result<()>> {
    let (send, ended) = channel();
    thread::spawn(move || send.send(served(input, output, &threads)));
    ended.recv_timeout(PATIENCE).expect("it ends")
}

#[test]
fn a_worker_that_cannot_be_started_ends_the_connection_with_an_error() {
    // No address space is this large.
    let threads = Threads {
        stack: 1 << 60,
        ..THREADS
    };
    let result = ends(io::empty(), io::sink(), threads);
    assert!(matches!(result, Some(Err(_))));
}

/// Hands every line on.
struct Lines(Sender<Value>, Vec<u8>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.1);
        assert!(lines.ends_with(b"\n"), "a line that is not whole");
        for line in lines
            .strip_suffix(b"\n")
            .into_iter()
            .flat_map(|lines| lines.split(|byte| *byte == b'\n'))
        {
            let line = serde_json::from_slice(line).expect("a line of JSON");
            self.0.send(line).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string() + "\n"
}

/// What is answered to these lines, by id.
fn answers(lines: &str) -> Vec<Value> {
    let (send, lines_out) = channel();
    let input = io::Cursor::new(lines.to_owned().into_bytes());
    let result = ends(input, Lines(send, Vec::new()), THREADS);
    assert!(matches!(result, Some(Ok(()))), "{result:?}");
    let mut answers: Vec<Value> = lines_out.try_iter().collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

/// Wherever the server fails at a message, that message is answered with an
/// error, once, and the connection goes on: also the reading of what follows
/// and the calls that wait for this one.
#[test]
fn a_panic_ends_the_message_it_happens_at_and_nothing_else() {
    for (at, code) in [
        ("receive", Some(-32603)),
        ("call", Some(-32603)),
        ("finish", Some(-32603)),
        ("record", None),
    ] {
        let failing = json!({"path": format!("panic at {at}"), "content": "x"});
        // Each writes, so that it waits for the one before it.
        let lines = (1..=8)
            .map(|id| match id % 2 {
                1 => call(id, "write_text_file", &failing),
                _ => call(id, "write_text_file", &json!({"path": "f", "content": "x"})),
            })
            .collect::<String>();
        let (failed, others): (Vec<Value>, Vec<Value>) = answers(&lines)
            .into_iter()
            .partition(|answer| answer["id"].as_u64().is_none_or(|id| id % 2 == 1));
        assert_eq!((failed.len(), others.len()), (4, 4), "{at}: {failed:?}");
        for answer in others {
            assert_eq!(answer["result"]["isError"], false, "{at}: {answer}");
        }
        for answer in failed {
            match code {
                Some(code) => assert_eq!(answer["error"]["code"], code, "{at}: {answer}"),
                None => assert_eq!(answer["result"]["isError"], true, "{at}: {answer}"),
            }
            // Of a message that could not be read there is no id to tell.
            assert_eq!(
                answer.get("id").is_some(),
                at != "receive",
                "{at}: {answer}"
            );
        }
    }
}

struct Panics;

impl Read for Panics {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a reader that panics")
    }
}

impl Write for Panics {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("a writer that panics")
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_panics_ends_the_connection_with_its_panic() {
    assert!(ends(Panics, io::sink(), THREADS).is_none());
}

/// Ends once it has heard that nobody reads the answers.
struct Lasting(io::Cursor<Vec<u8>>, Receiver<()>);

impl Read for Lasting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => {
                self.1.recv_timeout(PATIENCE).expect("it is told");
                Ok(0)
            }
            read => Ok(read),
        }
    }
}

#[test]
fn a_writer_that_panics_is_one_that_nobody_reads_from() {
    let (send, broken) = channel();
    let lines = call(1, "list_directory", &json!({}));
    let input = Lasting(io::Cursor::new(lines.into_bytes()), broken);
    let (server, _directory) = server();
    let send = Mutex::new(send);
    let events = Events {
        input_ended: &|| {},
        input_closed: &|| false,
        output_broken: &|| {
            // Nobody may be waiting any more.
            let _ = send.lock().expect("no panic").send(());
        },
    };
    let result = serve(&server, input, Panics, &events, &THREADS);
    assert!(result.is_ok());
}
