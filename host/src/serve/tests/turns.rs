//! Who reads, runs and writes, as the two ends of a connection see it.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Lines, PATIENCE, call, ends};
use crate::serve::{THREADS, Threads};

fn ping(id: u32) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string() + "\n"
}

fn read(id: u32) -> String {
    call(id, "read_text_file", &json!({"path": "f"}))
}

fn write(id: u32) -> String {
    call(
        id,
        "write_text_file",
        &json!({"path": "f", "content": id.to_string()}),
    )
}

/// Gives one piece at each reading, once `may_read` says so. After its end
/// nobody may read.
struct Pieces<F> {
    pieces: Option<std::vec::IntoIter<String>>,
    may_read: F,
}

impl<F: FnMut(Option<&str>)> Read for Pieces<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.pieces.as_mut().expect("it has not ended").next();
        if piece.is_none() {
            self.pieces = None;
        }
        (self.may_read)(piece.as_deref());
        let piece = piece.unwrap_or_default();
        buffer[..piece.len()].copy_from_slice(piece.as_bytes());
        Ok(piece.len())
    }
}

/// Says who writes.
struct Signed(Sender<ThreadId>);

impl Write for Signed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0
            .send(thread::current().id())
            .map_err(io::Error::other)
    }
}

/// But for a thread that has yet to find out that there is nothing to do.
#[test]
fn what_comes_alone_is_answered_by_the_thread_that_read_it() {
    const LINES: u32 = 100;
    let (send, written) = channel();
    let lines: Vec<String> = (0..LINES)
        .map(|id| match id % 3 {
            0 => ping(id),
            1 => write(id),
            _ => read(id),
        })
        .collect();
    let (mut reader, own) = (None, Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&own);
    let input = Pieces {
        pieces: Some(lines.into_iter()),
        may_read: move |_: Option<&str>| {
            if let Some(reader) = reader.replace(thread::current().id()) {
                let writer = written.recv_timeout(PATIENCE).expect("an answer");
                count.fetch_add(u32::from(reader == writer), Ordering::SeqCst);
            }
        },
    };
    // However slow the machine, nobody takes the turn.
    let threads = Threads {
        tick: PATIENCE,
        ..THREADS
    };
    let result = ends(input, Signed(send), threads);
    assert!(matches!(result, Some(Ok(()))), "{result:?}");
    let own = own.load(Ordering::SeqCst);
    assert!(own > LINES / 2, "{own}");
}

/// Writes nothing before it is told to.
struct Late(Option<Receiver<()>>, Lines);

impl Write for Late {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(told) = self.0.take() {
            told.recv_timeout(PATIENCE).expect("it is read on");
        }
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

#[test]
fn whoever_cannot_write_an_answer_yet_keeps_nobody_from_reading() {
    for first in [ping(0), read(0)] {
        let (tell, told) = channel();
        let (send, answers) = channel();
        let mut lines = vec![first];
        lines.extend((1..50).map(|id| if id % 2 == 0 { ping(id) } else { read(id) }));
        let input = Pieces {
            pieces: Some(lines.into_iter()),
            may_read: move |piece: Option<&str>| {
                if piece.is_none() {
                    let _ = tell.send(());
                }
            },
        };
        let result = ends(input, Late(Some(told), Lines(send, Vec::new())), THREADS);
        assert!(matches!(result, Some(Ok(()))), "{result:?}");
        let mut ids: Vec<u64> = answers
            .try_iter()
            .filter_map(|answer| answer["id"].as_u64())
            .collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..50));
    }
}

/// The turn is taken as often as it can be, in the middle of everything: still
/// a reading call sees the writing one before it, and all are answered once.
#[test]
fn calls_keep_their_order_however_often_the_turn_is_taken() {
    const CALLS: u32 = 400;
    let mut random = 1_u32;
    let mut random = move |below: u32| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % below
    };
    let mut expected = vec![None; CALLS as usize];
    let (mut pieces, mut piece, mut last) = (Vec::new(), write(0), 0);
    for id in 1..CALLS {
        match random(4) {
            0 => piece += &ping(id),
            1 => {
                piece += &write(id);
                last = id;
            }
            _ => {
                piece += &read(id);
                expected[id as usize] = Some(last.to_string());
            }
        }
        if random(3) == 0 {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.push(piece);
    let input = Pieces {
        pieces: Some(pieces.into_iter()),
        may_read: |_: Option<&str>| {},
    };
    let threads = Threads {
        tick: Duration::from_nanos(1),
        ..THREADS
    };
    let (send, answers) = channel();
    let result = ends(input, Lines(send, Vec::new()), threads);
    assert!(matches!(result, Some(Ok(()))), "{result:?}");
    let mut answers: Vec<Value> = answers.try_iter().collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), expected.len());
    for ((id, answer), expected) in (0_u64..).zip(answers).zip(expected) {
        assert_eq!(answer["id"], id);
        let text = answer["result"]["structuredContent"]["items"][0]["text"].as_str();
        assert_eq!(text.map(str::to_owned), expected, "{answer}");
    }
}
