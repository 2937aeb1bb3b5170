//! A connection: lines in, lines out, and the calls between them. Reading,
//! working and writing each go on while the others wait.

mod framing;
mod needs;
mod output;
mod scheduler;

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use preopen_contract::session::{Action, Call, Outcome, Session};

use self::framing::{Frame, Frames};
use self::needs::Needs;
use self::output::Output;
use self::scheduler::{Job, MUCH, Pace, Scheduler};
use crate::sandbox::{Control, Interruption, Listener, Remains};
use crate::server::Server;

/// How long calls may take to end after the client has closed its side.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How long the reader waits for room before it looks whether the input has
/// been closed meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes of answers that nobody reads, past which nothing more is answered; the
/// same for answers that wait for the rest of their batch.
const MAX_BACKLOG: usize = 16 << 20;

/// Calls that there is room for beside those that may take long.
pub(crate) const BESIDE: usize = 1;

/// How long a call may run beside those that may take long. What is short ends
/// in much less; what is not has then done this much in vain.
const BRIEF: Duration = Duration::from_millis(250);

/// Stack of a worker: the component has its own limit, and the rest is the host's.
const WORKER_STACK: usize = 4 << 20;

/// What a program wants to hear of while a connection is served.
pub(crate) struct Events<'a> {
    /// The input has ended; calls in flight have [`GRACE`].
    pub(crate) input_ended: &'a (dyn Fn() + Sync),
    /// Whether the other side has closed the input, however much of it is
    /// still unread. Asked while nothing more is read for want of room.
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
        // Where there is room for one call alone, it may take long.
        scheduler: Scheduler::new(server.calls().saturating_sub(BESIDE).max(1)),
        events,
        deadline: OnceLock::new(),
    };
    thread::scope(|scope| {
        let (result, grace) = match connection.start(scope, worker_stack) {
            // A reader that panics must not keep the others waiting for it.
            Ok(()) => (
                catch_unwind(AssertUnwindSafe(|| connection.read(reader))),
                connection.grace(),
            ),
            // The threads that did start end with the rest.
            Err(error) => (Ok(Err(error)), Duration::ZERO),
        };
        // Whoever sent these in a batch still gets the answers that there are.
        for job in connection.scheduler.close(grace) {
            connection.end_unbegun(&job.call, &Outcome::Stopped);
        }
        connection.output.queue().close();
        result.unwrap_or_else(|panic| resume_unwind(panic))
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
        trip("call", call.arguments.as_bytes());
        server.call(&call.name, &call.arguments, control)
    }))
    .map_or((Outcome::Internal, None), |(outcome, remains)| {
        (outcome, Some(remains))
    })
}

/// Panics where a test has asked for it, by what a client sends.
#[cfg(test)]
fn trip(at: &str, bytes: &[u8]) {
    let wanted = format!("panic at {at}");
    let sent = String::from_utf8_lossy(bytes);
    assert!(!sent.contains(&wanted), "{wanted}");
}

#[cfg(not(test))]
const fn trip(_: &str, _: &[u8]) {}

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
        loop {
            // The longer a line, the more there must be room for before it is known.
            let frame = frames.next(|| self.wait_for(Needs::Turn { bytes: MUCH }, 0))?;
            let held = self.session.held();
            let action = match frame {
                None => return Ok(()),
                Some(Frame::TooLong) => {
                    let limit = limits.shown("max-request-bytes");
                    Action::Reply(self.session.too_long(&limit))
                }
                Some(Frame::Line(line)) => self.take(&line),
            };
            // What a batch holds itself goes only once it is taken.
            let own = self.session.held().saturating_sub(held);
            if !self.wait_for(Needs::of(&action), own) {
                self.end_unbegun_of(action);
                return Ok(());
            }
            self.act(action);
        }
    }

    /// What is to be done about a line. A panic in there ends the message and
    /// nothing else.
    fn take(&self, line: &[u8]) -> Action {
        catch_unwind(AssertUnwindSafe(|| {
            trip("receive", line);
            self.session.receive(line)
        }))
        .unwrap_or_else(|_| Action::Reply(self.session.failed()))
    }

    /// Waits until there is room for what an action needs, beside the bytes of
    /// answers that are its `own`; false if nothing may be done any more. An
    /// input that was closed is read on, until its calls must have ended.
    fn wait_for(&self, needs: Needs, own: usize) -> bool {
        loop {
            let room = self.has_room(needs, own);
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

    /// Waits a moment for room; whether there is.
    fn has_room(&self, needs: Needs, own: usize) -> bool {
        let queue = self.output.queue();
        match needs {
            Needs::Nothing => true,
            Needs::Output => queue.wait_below(MAX_BACKLOG, LOOK_EVERY),
            Needs::Turn { bytes } => {
                self.scheduler.wait_for_room(bytes, LOOK_EVERY, || {
                    self.session.held() <= MAX_BACKLOG + own
                }) && queue.wait_below(MAX_BACKLOG, LOOK_EVERY)
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
        self.record(call, outcome, &Control::new(0, None), Duration::ZERO);
    }

    /// The same of every call in an action that there is no time left for.
    fn end_unbegun_of(&self, action: Action) {
        match action {
            Action::Call(call) => self.end_unbegun(&call, &Outcome::Stopped),
            Action::Many(actions) => actions
                .into_iter()
                .for_each(|action| self.end_unbegun_of(action)),
            // What it takes to answer these is known already.
            Action::Reply(_) | Action::List(_) => self.act(action),
            Action::Nothing | Action::Cancel(_) => {}
        }
    }

    /// Takes note of a call that has ended; whatever fails at that, fails for
    /// nobody else.
    fn record(&self, call: &Call, outcome: &Outcome, control: &Control, took: Duration) {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            trip("record", call.arguments.as_bytes());
            self.server.record(call, outcome, control, took);
        }));
    }

    fn answer(&self, line: Option<String>) {
        if let Some(line) = line {
            self.output.queue().leave(line);
        }
    }

    fn work(&self) {
        let timeout = self.server.limits().call_timeout;
        let begin = |call: &Call, pace| match pace {
            Pace::Lasting => Control::new(timeout, self.listener(call)),
            Pace::Brief => Control::brief(timeout, BRIEF),
        };
        let dropped = |job: Job| self.end_unbegun(&job.call, &Outcome::Stopped);
        self.scheduler
            .work(begin, |job, control| self.run(job, control), dropped);
    }

    /// Runs a call and writes its answer; hands it back if it was displaced.
    fn run(&self, job: Job, control: &Control) -> Option<Job> {
        let began = Instant::now();
        let (outcome, _remains) = run(self.server, &job.call, control);
        let took = began.elapsed();
        let is_displaced = control.interruption() == Some(Interruption::Displaced);
        if is_displaced && outcome == Outcome::Stopped {
            return Some(job);
        }
        if let Some(line) = self.finish(&job.call, &outcome) {
            self.output.write(line);
        }
        self.record(&job.call, &outcome, control, took);
        self.notice_break();
        None
    }

    /// The line that answers a call. If it cannot be made, that is the answer.
    fn finish(&self, call: &Call, outcome: &Outcome) -> Option<String> {
        catch_unwind(AssertUnwindSafe(|| {
            trip("finish", call.arguments.as_bytes());
            self.session.finish(&call.ticket, outcome)
        }))
        .unwrap_or_else(|_| self.session.finish(&call.ticket, &Outcome::Internal))
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
