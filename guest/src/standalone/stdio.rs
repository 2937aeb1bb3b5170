//! The three streams of the component on its own, over `wasi:io`. What the
//! other side no longer reads is thrown away, and that is no failure.

use wasip2::cli::{stderr, stdin, stdout};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

/// Bytes that are read at a time.
const CHUNK: u64 = 64 << 10;

/// The other side has closed the stream, or it failed.
#[derive(Debug)]
pub(super) struct Closed;

impl From<StreamError> for Closed {
    fn from(_: StreamError) -> Self {
        Self
    }
}

/// stdin.
pub(super) struct Input(InputStream);

impl Input {
    pub(super) fn open() -> Self {
        Self(stdin::get_stdin())
    }

    /// Waits for what comes next; none at the end.
    pub(super) fn read(&self) -> Option<Vec<u8>> {
        loop {
            match self.0.blocking_read(CHUNK) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(bytes),
                Err(_) => return None,
            }
        }
    }
}

/// stdout, or stderr.
pub(super) struct Output(OutputStream);

impl Output {
    pub(super) fn stdout() -> Self {
        Self(stdout::get_stdout())
    }

    pub(super) fn stderr() -> Self {
        Self(stderr::get_stderr())
    }

    /// Writes all of it and waits until it is on its way.
    pub(super) fn write(&self, text: &str) -> Result<(), Closed> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let room = usize::try_from(self.0.check_write()?).unwrap_or(usize::MAX);
            if room == 0 {
                self.0.subscribe().block();
                continue;
            }
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.0.write(now)?;
            rest = later;
        }
        Ok(self.0.blocking_flush()?)
    }
}
