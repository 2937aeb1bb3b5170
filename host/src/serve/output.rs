//! The lines on their way out. One thread at a time writes, whole lines and in
//! the order they came; whoever has a line and finds nobody writing does it.
//! Whoever may not wait leaves its line: to who writes already, or to a thread
//! that is there for it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes waiting to be written past which a worker waits with its next answer.
const FULL: usize = 1 << 20;

/// Bytes of lines that are written at once, where several wait.
const JOINED: usize = 64 << 10;

/// Where answers go.
pub(super) struct Output<W> {
    writer: Mutex<W>,
    queue: Arc<Queue>,
}

/// The lines that wait to be written, whoever writes them.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// There is a line and nobody writes, or there will be no more.
    left: Condvar,
    /// A line is written.
    written: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<String>,
    bytes: usize,
    busy: bool,
    closed: bool,
    broken: bool,
    /// Who waits for a line to be written; waking nobody costs as much as
    /// waking somebody.
    watchers: usize,
}

impl<W: Write> Output<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            writer: Mutex::new(writer),
            queue: Arc::default(),
        }
    }

    /// Where lines can be left that [`Output::run`] writes.
    pub(super) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Writes a line, or leaves it to the thread that is writing already.
    pub(super) fn write(&self, line: String) {
        let mut waiting = self.queue.lock();
        while waiting.busy && waiting.bytes > FULL && !waiting.broken {
            waiting.watchers += 1;
            waiting = self.queue.wait(&self.queue.written, waiting);
            waiting.watchers -= 1;
        }
        waiting.push(line);
        if !waiting.busy {
            drop(self.drain(waiting));
        }
    }

    /// Writes what was left, unless somebody is writing already.
    pub(super) fn write_left(&self) {
        let waiting = self.queue.lock();
        if !waiting.busy {
            drop(self.drain(waiting));
        }
    }

    /// Writes what is left to it until [`Queue::close`], or until the other
    /// side is gone.
    pub(super) fn run(&self) {
        let mut waiting = self.queue.lock();
        loop {
            if !waiting.busy && !waiting.lines.is_empty() {
                waiting = self.drain(waiting);
            } else if waiting.closed || waiting.broken {
                return;
            } else {
                waiting = self.queue.wait(&self.queue.left, waiting);
            }
        }
    }

    /// Writes until nothing waits. The lock is not held meanwhile.
    fn drain<'a>(&'a self, mut waiting: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        waiting.busy = true;
        while let Some(lines) = waiting.next() {
            let broken = waiting.broken;
            drop(waiting);
            let result = if broken {
                Ok(())
            } else {
                self.put(lines.as_bytes())
            };
            waiting = self.queue.lock();
            waiting.bytes -= lines.len();
            waiting.broken |= result.is_err();
            if waiting.watchers > 0 {
                self.queue.written.notify_all();
            }
        }
        waiting.busy = false;
        waiting
    }

    /// A writer that panics is as good as one that is gone: whoever waits for
    /// its lines must hear of it.
    fn put(&self, lines: &[u8]) -> io::Result<()> {
        let put = || {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.write_all(lines)?;
            writer.flush()
        };
        catch_unwind(AssertUnwindSafe(put)).unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()))
    }
}

impl Queue {
    /// Leaves a line; never waits. Whoever does sees to it that it is written,
    /// with [`Output::write_left`] or [`Queue::rouse`].
    pub(super) fn leave(&self, line: String) {
        self.lock().push(line);
    }

    /// Whether a line was left and nobody writes.
    pub(super) fn is_left(&self) -> bool {
        let waiting = self.lock();
        !waiting.busy && !waiting.lines.is_empty()
    }

    /// Has the thread in [`Output::run`] write what was left.
    pub(super) fn rouse(&self) {
        let waiting = self.lock();
        if !waiting.lines.is_empty() {
            self.wake(&waiting);
        }
    }

    /// Leaves a line that nobody misses, unless others are still to be written:
    /// a client that does not read lets none of these pile up.
    pub(super) fn offer(&self, line: impl FnOnce() -> String) {
        let mut waiting = self.lock();
        if waiting.bytes == 0 {
            waiting.push(line());
            self.wake(&waiting);
        }
    }

    /// Wakes the thread in [`Output::run`], unless somebody is writing: that
    /// one takes along what comes meanwhile.
    fn wake(&self, waiting: &Waiting) {
        if !waiting.busy {
            self.left.notify_all();
        }
    }

    /// Ends [`Output::run`] once everything is written.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.left.notify_all();
    }

    /// Whether the other side is gone.
    pub(super) fn is_broken(&self) -> bool {
        self.lock().broken
    }

    /// Waits for `patience` at most until no more than `bytes` wait to be
    /// written, or the other side is gone; whether it is so.
    pub(super) fn wait_below(&self, bytes: usize, patience: Duration) -> bool {
        let mut waiting = self.lock();
        if waiting.bytes <= bytes || waiting.broken {
            return true;
        }
        self.wake(&waiting);
        waiting.watchers += 1;
        let (mut waiting, waited) = self
            .written
            .wait_timeout_while(waiting, patience, |waiting| {
                waiting.bytes > bytes && !waiting.broken
            })
            .unwrap_or_else(PoisonError::into_inner);
        waiting.watchers -= 1;
        !waited.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        until: &Condvar,
        waiting: MutexGuard<'a, Waiting>,
    ) -> MutexGuard<'a, Waiting> {
        until.wait(waiting).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// What is written next: a line, and those behind it that are there already.
    fn next(&mut self) -> Option<String> {
        let mut lines = self.lines.pop_front()?;
        while let Some(line) = self.lines.front()
            && lines.len() + line.len() <= JOINED
        {
            lines.push_str(line);
            self.lines.pop_front();
        }
        Some(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::time::Duration;

    use super::{JOINED, Output};

    #[test]
    fn what_nobody_misses_is_dropped_behind_what_is_still_to_be_written() {
        let mut written = Vec::new();
        let output = Output::new(&mut written);
        output.queue().offer(|| "1".into());
        output.queue().offer(|| "dropped".into());
        output.queue().leave("2".into());
        output.queue().offer(|| "dropped".into());
        // Nobody else writes here, so this takes along what was left.
        output.write("3".into());
        output.queue().offer(|| "4".into());
        output.queue().close();
        output.run();
        assert_eq!(written, b"1234");
    }

    /// Takes note of what is written at once.
    struct Pieces(Vec<Vec<u8>>);

    impl Write for &mut Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_are_there_together_are_written_together_up_to_a_size() {
        let mut written = Pieces(Vec::new());
        let output = Output::new(&mut written);
        let lines = [
            "a",
            "b",
            &"c".repeat(JOINED - 2),
            "d",
            &"e".repeat(JOINED),
            "f",
        ];
        assert!(!output.queue().is_left());
        for line in lines {
            output.queue().leave(line.to_owned());
        }
        assert!(output.queue().is_left());
        output.write_left();
        assert!(!output.queue().is_left() && output.queue().wait_below(0, Duration::ZERO));
        let pieces = written.0.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let first = "ab".to_owned() + lines[2];
        let expected = [first.as_str(), "d", lines[4], "f"].map(str::as_bytes);
        assert!(
            pieces == expected,
            "{:?}",
            pieces.iter().map(|piece| piece.len())
        );
    }
}
