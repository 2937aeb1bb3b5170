//! A connection: lines in, lines out, and the calls between them. Reading,
//! working and writing each go on while the others wait.

mod answering;
mod framing;
mod needs;
mod order;
mod output;
mod reading;
mod scheduler;
mod turn;

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use preopen_contract::session::{Action, Call, Outcome, Session};

use self::framing::Frames;
pub(crate) use self::order::BESIDE;
use self::output::Output;
use self::scheduler::Scheduler;
use self::turn::TICK;
use crate::sandbox::{Control, Remains};
use crate::server::Server;

/// How long calls may take to end after the client has closed its side.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// What a connection's threads are like.
const THREADS: Threads = Threads {
    stack: 4 << 20,
    tick: TICK,
};

struct Threads {
    /// Stack of one that may run a call: the component has its own limit, and
    /// the rest is the host's.
    stack: usize,
    /// Time between two looks at who has the turn to read.
    tick: Duration,
}

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
pub(crate) fn connection<R: Read + Send, W: Write + Send>(
    server: &Server,
    reader: R,
    writer: W,
    events: &Events<'_>,
) -> io::Result<()> {
    serve(server, reader, writer, events, &THREADS)
}

fn serve<R: Read + Send, W: Write + Send>(
    server: &Server,
    reader: R,
    writer: W,
    events: &Events<'_>,
    threads: &Threads,
) -> io::Result<()> {
    server.start_clock()?;
    let connection = Connection {
        server,
        session: Arc::new(server.session()),
        frames: Mutex::new(Frames::new(reader, server.limits().max_request_bytes)),
        output: Output::new(writer),
        scheduler: Scheduler::new(server.calls(), threads.tick),
        events,
        deadline: OnceLock::new(),
        ended: Mutex::new(None),
    };
    thread::scope(|scope| match connection.start(scope, threads.stack) {
        // How much of its stack the caller's own thread has left is not known:
        // it does what takes next to none.
        Ok(()) => connection.write(),
        // The threads that did start end with the rest.
        Err(error) => connection.end(Ok(Err(error)), Duration::ZERO),
    });
    let ended = connection.ended.into_inner();
    match ended.unwrap_or_else(PoisonError::into_inner) {
        Some(Ok(result)) => result,
        Some(Err(panic)) => resume_unwind(panic),
        None => Ok(()),
    }
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

struct Connection<'a, R, W> {
    server: &'a Server,
    session: Arc<Session>,
    /// Locked by the thread with the turn to read, and by no other.
    frames: Mutex<Frames<R>>,
    output: Output<W>,
    scheduler: Scheduler,
    events: &'a Events<'a>,
    /// When calls must have ended; known once the input has.
    deadline: OnceLock<Instant>,
    /// How reading ended.
    ended: Mutex<Option<thread::Result<io::Result<()>>>>,
}

impl<R: Read + Send, W: Write + Send> Connection<'_, R, W> {
    /// Starts the threads that read and work.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        stack: usize,
    ) -> io::Result<()> {
        for _ in 0..=self.server.calls() {
            thread::Builder::new()
                .name("worker".into())
                .stack_size(stack)
                .spawn_scoped(scope, || self.scheduler.work(self))?;
        }
        self.scheduler.open();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
