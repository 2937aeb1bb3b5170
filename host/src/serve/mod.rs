//! A connection: lines in, lines out, and the calls between them. Reading,
//! working and writing each go on while the others wait.

mod framing;
mod output;
mod scheduler;

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use preopen_contract::session::{Action, Call, Outcome, Session};

use self::framing::{Frame, Frames};
use self::output::Output;
use self::scheduler::{Job, Scheduler};
use crate::sandbox::{Control, Listener};
use crate::server::Server;

/// How long calls may take to end after the client has closed its side.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Bytes of answers that nobody reads, past which nothing more is read.
const MAX_BACKLOG: usize = 16 << 20;

/// Stack of a worker: the component has its own limit, and the rest is the host's.
const WORKER_STACK: usize = 4 << 20;

/// What a program wants to hear of while a connection is served.
pub(crate) struct Events<'a> {
    /// The input has ended; calls in flight have [`GRACE`].
    pub(crate) input_ended: &'a (dyn Fn() + Sync),
    /// The other side no longer reads.
    pub(crate) output_broken: &'a (dyn Fn() + Sync),
}

/// Serves until the input ends.
pub(crate) fn connection<R: Read, W: Write + Send>(
    server: &Server,
    reader: R,
    writer: W,
    events: &Events<'_>,
) -> io::Result<()> {
    let connection = Connection {
        server,
        session: Arc::new(server.session()),
        output: Output::new(writer),
        scheduler: Scheduler::default(),
        events,
    };
    thread::scope(|scope| {
        let spawn =
            |name: &str, stack: usize| thread::Builder::new().name(name.into()).stack_size(stack);
        spawn("writer", WORKER_STACK / 4).spawn_scoped(scope, || connection.write())?;
        for _ in 0..server.calls() {
            spawn("worker", WORKER_STACK).spawn_scoped(scope, || connection.work())?;
        }
        let result = connection.read(reader);
        (events.input_ended)();
        let grace = if connection.output.queue().is_broken() {
            Duration::ZERO
        } else {
            GRACE
        };
        connection.scheduler.close(grace);
        connection.output.queue().close();
        result
    })
}

/// Answers one message, on this thread.
pub(crate) fn message(server: &Server, message: &[u8]) -> Option<String> {
    let session = server.session();
    match session.receive(message) {
        Action::Nothing | Action::Cancel(_) => None,
        Action::Reply(line) => Some(line),
        Action::List(ticket) => match server.catalogue() {
            Some(catalogue) => session.list(&ticket, catalogue.json()),
            None => session.finish(&ticket, &Outcome::Internal),
        },
        Action::Call(call) => {
            let outcome = match server.changes(&call.name) {
                Ok(_) => run(
                    server,
                    &call,
                    &Control::new(server.limits().call_timeout, None),
                ),
                Err(outcome) => outcome,
            };
            session.finish(&call.ticket, &outcome)
        }
    }
}

/// Runs a call; a panic in here ends the call and nothing else.
fn run(server: &Server, call: &Call, control: &Control) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| {
        server.call(&call.name, &call.arguments, control)
    }))
    .unwrap_or(Outcome::Internal)
}

struct Connection<'a, W> {
    server: &'a Server,
    session: Arc<Session>,
    output: Output<W>,
    scheduler: Scheduler,
    events: &'a Events<'a>,
}

impl<W: Write> Connection<'_, W> {
    fn read(&self, reader: impl Read) -> io::Result<()> {
        let limits = self.server.limits();
        let mut frames = Frames::new(reader, limits.max_request_bytes);
        loop {
            self.scheduler
                .wait_for_room(|| self.output.queue().is_broken());
            self.output.queue().wait_below(MAX_BACKLOG);
            if self.output.queue().is_broken() {
                return Ok(());
            }
            match frames.next()? {
                Frame::End => return Ok(()),
                Frame::TooLong => {
                    let limit = limits.shown("max-request-bytes");
                    self.output.queue().leave(self.session.too_long(&limit));
                }
                Frame::Line(line) => self.take(&line),
            }
        }
    }

    fn take(&self, line: &[u8]) {
        match self.session.receive(line) {
            Action::Nothing => {}
            Action::Reply(line) => self.output.queue().leave(line),
            Action::List(ticket) => self.answer(match self.server.catalogue() {
                Some(catalogue) => self.session.list(&ticket, catalogue.json()),
                None => self.session.finish(&ticket, &Outcome::Internal),
            }),
            Action::Cancel(serial) => self.scheduler.cancel(serial),
            Action::Call(call) => match self.server.changes(&call.name) {
                Ok(changes) => self.scheduler.push(Job { call, changes }),
                Err(outcome) => self.answer(self.session.finish(&call.ticket, &outcome)),
            },
        }
    }

    fn answer(&self, line: Option<String>) {
        if let Some(line) = line {
            self.output.queue().leave(line);
        }
    }

    fn work(&self) {
        let begin =
            |call: &Call| Control::new(self.server.limits().call_timeout, self.listener(call));
        self.scheduler.work(begin, |job, control| {
            let outcome = run(self.server, &job.call, control);
            if let Some(line) = self.session.finish(&job.call.ticket, &outcome) {
                self.output.write(line);
            }
            self.notice_break();
        });
    }

    /// Who is told how far a call is: the client, if it asked for it.
    fn listener(&self, call: &Call) -> Option<Listener> {
        let token = call.progress_token.clone()?;
        let (session, queue) = (Arc::clone(&self.session), Arc::clone(self.output.queue()));
        Some(Box::new(move |entries, bytes| {
            let message = format!("{entries} entries seen, {bytes} bytes read or written");
            queue.leave(session.progress(&token, entries + bytes, &message));
        }))
    }

    fn write(&self) {
        self.output.run();
        self.notice_break();
    }

    fn notice_break(&self) {
        if self.output.queue().is_broken() {
            self.scheduler.wake();
            (self.events.output_broken)();
        }
    }
}
