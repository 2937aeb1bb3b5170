//! What becomes of a call: it runs, its answer is written or left to be
//! written, and note is taken of it.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use preopen_contract::session::{Call, Outcome};

use super::order::{Job, Pace};
use super::scheduler::Hands;
use super::{Connection, run, trip};
use crate::sandbox::{Control, Interruption, Listener};

/// How long a call may run beside those that may take long. What is short ends
/// in much less; what is not has then done this much in vain.
const BRIEF: Duration = Duration::from_millis(250);

impl<R: Read + Send, W: Write + Send> Hands for Connection<'_, R, W> {
    fn read(&self) {
        self.read_on();
    }

    fn begin(&self, call: &Call, pace: Pace) -> Control {
        let timeout = self.server.limits().call_timeout;
        match pace {
            Pace::Lasting => Control::new(timeout, self.listener(call)),
            Pace::Brief => Control::brief(timeout, BRIEF),
        }
    }

    fn run(&self, job: Job, control: &Control) -> Option<Job> {
        let began = Instant::now();
        let (outcome, remains) = run(self.server, &job.call, control);
        let took = began.elapsed();
        let is_displaced = control.interruption() == Some(Interruption::Displaced);
        if is_displaced && outcome == Outcome::Stopped {
            return Some(job);
        }
        if let Some(line) = self.finish(&job.call, &outcome) {
            self.output.write(line);
        }
        self.record(&job.call, &outcome, control, took);
        drop(remains);
        self.notice_break();
        None
    }

    fn dropped(&self, job: Job) {
        self.end_unbegun(&job.call, &Outcome::Stopped);
        self.output.queue().rouse();
    }
}

impl<R: Read + Send, W: Write + Send> Connection<'_, R, W> {
    /// Answers a call that never ran, as far as it has an answer, and takes
    /// note of it.
    pub(super) fn end_unbegun(&self, call: &Call, outcome: &Outcome) {
        self.answer(self.session.finish(&call.ticket, outcome));
        self.record(call, outcome, &Control::new(0, None), Duration::ZERO);
    }

    /// Leaves an answer, if there is one.
    pub(super) fn answer(&self, line: Option<String>) {
        if let Some(line) = line {
            self.output.queue().leave(line);
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

    /// Writes what is left to be written, until the connection ends.
    pub(super) fn write(&self) {
        self.output.run();
        self.notice_break();
    }

    /// Writes what was left so far.
    pub(super) fn write_left(&self) {
        self.output.write_left();
        self.notice_break();
    }

    fn notice_break(&self) {
        if self.output.queue().is_broken() {
            (self.events.output_broken)();
        }
    }
}
