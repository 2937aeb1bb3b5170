//! What the thread does that has the turn to read: it takes lines, puts calls
//! in line and leaves answers, and once it has taken all that has come, works
//! that off itself as long as nobody else reads meanwhile.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use preopen_contract::session::{Action, Outcome};

use super::framing::Frame;
use super::needs::Needs;
use super::order::{Job, MUCH};
use super::{Connection, GRACE, trip};

/// How long the reader waits for room before it looks whether the input has
/// been closed meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes of answers that nobody reads, past which nothing more is answered; the
/// same for answers that wait for the rest of their batch.
const MAX_BACKLOG: usize = 16 << 20;

/// Lines after which others begin with what they ask for, and answers that were
/// left are written, while there are more to take: waking somebody takes as long
/// as taking some lines.
const STRIDE: usize = 8;

/// A line that was taken.
struct Taken {
    /// What is to be done about it.
    action: Action,
    /// Bytes of answers that it holds already: what a batch holds itself goes
    /// only once it is answered.
    own: usize,
    /// Another line has come already.
    is_more: bool,
}

impl<R: Read + Send, W: Write + Send> Connection<'_, R, W> {
    /// Reads as long as it is this thread's turn. That ends with the input, and
    /// then the connection does.
    pub(super) fn read_on(&self) {
        // A reader that panics must not keep the others waiting for it.
        match catch_unwind(AssertUnwindSafe(|| self.read_lines())) {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => self.end(Ok(Ok(())), self.grace()),
            Ok(Err(error)) => self.end(Ok(Err(error)), self.grace()),
            Err(panic) => self.end(Err(panic), self.grace()),
        }
    }

    /// Ends the connection: reading has ended like this, and calls in flight
    /// have so long to do the same.
    pub(super) fn end(&self, read: thread::Result<io::Result<()>>, grace: Duration) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        self.output.queue().rouse();
        // Whoever sent these in a batch still gets the answers that there are.
        for job in self.scheduler.close(grace) {
            self.end_unbegun(&job.call, &Outcome::Stopped);
        }
        self.output.queue().close();
    }

    /// Reads until somebody else does; false at the end of the input.
    fn read_lines(&self) -> io::Result<bool> {
        let (mut goes_on, mut taken) = (true, 0);
        while goes_on {
            let Some(Taken {
                action,
                own,
                is_more,
            }) = self.next()?
            else {
                return Ok(false);
            };
            if !self.wait_for(Needs::of(&action), own) {
                self.end_unbegun_of(action);
                return Ok(false);
            }
            self.act(action);
            taken += 1;
            if !is_more {
                taken = 0;
                goes_on = self.help();
            } else if taken % STRIDE == 0 {
                self.scheduler.rouse();
                goes_on = self.write_out();
            }
        }
        Ok(true)
    }

    /// Waits for the next line and takes it; none at the end.
    fn next(&self) -> io::Result<Option<Taken>> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        // The longer a line, the more there must be room for before it is known.
        let frame = frames.next(|| self.wait_for(Needs::Turn { bytes: MUCH }, 0))?;
        let is_more = frames.has_next();
        drop(frames);
        let held = self.session.held();
        let action = match frame {
            None => return Ok(None),
            Some(Frame::TooLong) => {
                let limit = self.server.limits().shown("max-request-bytes");
                Action::Reply(self.session.too_long(&limit))
            }
            Some(Frame::Line(line)) => self.take(&line),
        };
        Ok(Some(Taken {
            action,
            own: self.session.held().saturating_sub(held),
            is_more,
        }))
    }

    /// Works off what was taken; whether it is still this thread's turn then.
    fn help(&self) -> bool {
        self.write_out() && self.scheduler.help(self)
    }

    /// Writes what was left; whether it is still this thread's turn then.
    fn write_out(&self) -> bool {
        if !self.output.queue().is_left() {
            return true;
        }
        let written = self.scheduler.help_with(|| self.write_left());
        written.unwrap_or_else(|| {
            self.output.queue().rouse();
            true
        })
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
}
