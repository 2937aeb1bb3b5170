//! What a connection does where the system fails it; what it does otherwise is
//! tested end to end.

use std::io;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::{Events, serve};
use crate::root::{Options, Root};
use crate::server::Server;

/// No wait here is meant to come to its end.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_worker_that_cannot_be_started_ends_the_connection_with_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = Root::open(Options::new(directory.path(), ["**"])).expect("a root");
    let server = Server::new(root).expect("a server");
    let (send, served) = channel();
    thread::spawn(move || {
        let events = Events {
            input_ended: &|| {},
            input_closed: &|| false,
            output_broken: &|| {},
        };
        // No address space is this large.
        let result = serve(&server, io::empty(), io::sink(), &events, 1 << 60);
        send.send(result).expect("somebody waits");
    });
    let result = served.recv_timeout(PATIENCE).expect("it ends");
    assert!(result.is_err());
}
