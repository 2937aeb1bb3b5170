//! A connection: lines in, lines out, and the calls between them. Reading,
//! working and writing each go on while the others wait.

mod framing;
mod output;
mod scheduler;

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use preopen_contract::session::{Action, Call, Outcome, Session};

use self::framing::{Frame, Frames};
use self::output::Output;
use self::scheduler::{Job, Scheduler};
use crate::sandbox::{Control, Listener, Remains};
use crate::server::Server;

/// How long calls may take to end after the client has closed its side.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How long the reader waits for room before it looks whether the input has
/// been closed meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes of answers that nobody reads, past which nothing more is read; the
/// same for answers that wait for the rest of their batch.
const MAX_BACKLOG: usize = 16 << 20;

/// Stack of a worker: the component has its own limit, and the rest is the host's.
const WORKER_STACK: usize = 4 << 20;

/// What a program wants to hear of while a connection is served.
pub(crate) struct Events<'a> {
    /// The input has ended; calls in flight have [`GRACE`].
    pub(crate) input_ended: &'a (dyn Fn() + Sync),
    /// Whether the other side has closed the input, however much of it is
    /// still unread. Asked while nothing can be read for want of room.
    pub(crate) input_closed: &'a (dyn Fn() -> bool + Sync),
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
    serve(server, reader, writer, events, WORKER_STACK)
}

fn serve<R: Read, W: Write + Send>(
    server: &Server,
    reader: R,
    writer: W,
    events: &Events<'_>,
    worker_stack: usize,
) -> io::Result<()> {
    server.start_clock()?;
    let connection = Connection {
        server,
        session: Arc::new(server.session()),
        output: Output::new(writer),
        scheduler: Scheduler::default(),
        events,
        deadline: OnceLock::new(),
    };
    thread::scope(|scope| {
        let (result, grace) = match connection.start(scope, worker_stack) {
            Ok(()) => (connection.read(reader), connection.grace()),
            // The threads that did start end with the rest.
            Err(error) => (Err(error), Duration::ZERO),
        };
        // Whoever sent these in a batch still gets the answers that there are.
        for job in connection.scheduler.close(grace) {
            connection.end_unbegun(&job.call, &Outcome::Stopped);
        }
        connection.output.queue().close();
        result
    })
}

/// Answers one message, on this thread.
pub(crate) fn message(server: &Server, message: &[u8]) -> Option<String> {
    let session = server.session();
    act(server, &session, session.receive(message))
}

fn act(server: &Server, session: &Session, action: Action) -> Option<String> {
    match action {
        Action::Nothing | Action::Cancel(_) => None,
        Action::Reply(line) => Some(line),
        Action::Many(actions) => actions
            .into_iter()
            .filter_map(|action| act(server, session, action))
            .last(),
        Action::List(ticket) => session.list(&ticket, server.tools()),
        Action::Call(call) => {
            let began = Instant::now();
            let control = Control::new(server.limits().call_timeout, None);
            let outcome = if server.changes(&call.name).is_none() {
                Outcome::UnknownTool(call.name.clone())
            } else if let Err(error) = server.start_clock() {
                crate::diagnostics::report(&format_args!("{} cannot be timed: {error}", call.name));
                Outcome::Internal
            } else {
                run(server, &call, &control).0
            };
            let line = session.finish(&call.ticket, &outcome);
            server.record(&call, &outcome, &control, began.elapsed());
            line
        }
    }
}

/// Runs a call; a panic in here ends the call and nothing else. What is left
/// of it is better dropped once it is answered.
fn run<'a>(server: &'a Server, call: &Call, control: &Control) -> (Outcome, Option<Remains<'a>>) {
    catch_unwind(AssertUnwindSafe(|| {
        server.call(&call.name, &call.arguments, control)
    }))
    .map_or((Outcome::Internal, None), |(outcome, remains)| {
        (outcome, Some(remains))
    })
}

struct Connection<'a, W> {
    server: &'a Server,
    session: Arc<Session>,
    output: Output<W>,
    scheduler: Scheduler,
    events: &'a Events<'a>,
    /// When calls must have ended; known once the input has.
    deadline: OnceLock<Instant>,
}

impl<W: Write + Send> Connection<'_, W> {
    /// Starts the threads that work and write.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        worker_stack: usize,
    ) -> io::Result<()> {
        let spawn =
            |name: &str, stack: usize| thread::Builder::new().name(name.into()).stack_size(stack);
        spawn("writer", WORKER_STACK / 4).spawn_scoped(scope, || self.write())?;
        for _ in 0..self.server.calls() {
            spawn("worker", worker_stack).spawn_scoped(scope, || self.work())?;
        }
        Ok(())
    }

    fn read(&self, reader: impl Read) -> io::Result<()> {
        let limits = self.server.limits();
        let mut frames = Frames::new(reader, limits.max_request_bytes);
        while self.wait_for_room() {
            match frames.next()? {
                Frame::End => return Ok(()),
                Frame::TooLong => {
                    let limit = limits.shown("max-request-bytes");
                    self.output.queue().leave(self.session.too_long(&limit));
                }
                Frame::Line(line) => self.act(self.session.receive(&line)),
            }
        }
        Ok(())
    }

    /// Waits until another line may come in; false if none may any more. An
    /// input that was closed is read on, until its calls must have ended.
    fn wait_for_room(&self) -> bool {
        loop {
            let room = self
                .scheduler
                .wait_for_room(LOOK_EVERY, || self.session.held() <= MAX_BACKLOG)
                && self.output.queue().wait_below(MAX_BACKLOG, LOOK_EVERY);
            let over = self.deadline.get().is_some_and(|at| Instant::now() >= *at);
            if over || self.output.queue().is_broken() {
                return false;
            }
            if room {
                return true;
            }
            if self.deadline.get().is_none() && (self.events.input_closed)() {
                self.input_ended();
            }
        }
    }

    /// Takes note that the input has ended; when calls must have.
    fn input_ended(&self) -> Instant {
        *self.deadline.get_or_init(|| {
            (self.events.input_ended)();
            Instant::now() + GRACE
        })
    }

    /// How long calls in flight may still take once nothing more is read.
    fn grace(&self) -> Duration {
        let deadline = self.input_ended();
        if self.output.queue().is_broken() {
            Duration::ZERO
        } else {
            deadline.saturating_duration_since(Instant::now())
        }
    }

    fn act(&self, action: Action) {
        match action {
            Action::Nothing => {}
            Action::Many(actions) => actions.into_iter().for_each(|action| self.act(action)),
            Action::Reply(line) => self.output.queue().leave(line),
            Action::List(ticket) => {
                self.answer(self.session.list(&ticket, self.server.tools()));
            }
            Action::Cancel(serial) => {
                if let Some(job) = self.scheduler.cancel(serial) {
                    self.end_unbegun(&job.call, &Outcome::Stopped);
                }
            }
            Action::Call(call) => match self.server.changes(&call.name) {
                Some(changes) => self.scheduler.push(Job { call, changes }),
                None => self.end_unbegun(&call, &Outcome::UnknownTool(call.name.clone())),
            },
        }
    }

    /// Answers a call that never ran, as far as it has an answer, and takes
    /// note of it.
    fn end_unbegun(&self, call: &Call, outcome: &Outcome) {
        self.answer(self.session.finish(&call.ticket, outcome));
        let control = Control::new(0, None);
        self.server.record(call, outcome, &control, Duration::ZERO);
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
            let began = Instant::now();
            let (outcome, _remains) = run(self.server, &job.call, control);
            let took = began.elapsed();
            if let Some(line) = self.session.finish(&job.call.ticket, &outcome) {
                self.output.write(line);
            }
            self.server.record(&job.call, &outcome, control, took);
            self.notice_break();
        });
    }

    /// Who is told how far a call is: the client, if it asked for it.
    fn listener(&self, call: &Call) -> Option<Listener> {
        let token = call.progress_token.clone()?;
        let (session, queue) = (Arc::clone(&self.session), Arc::clone(self.output.queue()));
        Some(Box::new(move |entries, bytes| {
            queue.offer(|| {
                let message = format!("{entries} entries seen, {bytes} bytes read or written");
                session.progress(&token, entries + bytes, &message)
            });
        }))
    }

    fn write(&self) {
        self.output.run();
        self.notice_break();
    }

    fn notice_break(&self) {
        if self.output.queue().is_broken() {
            (self.events.output_broken)();
        }
    }
}

#[cfg(test)]
mod tests;
