//! Standard streams that lead nowhere, and everything that can be done with
//! them. The library's own come with a runtime, whose threads and sockets this
//! process has no right to once it is locked down; nothing here ever waits, so
//! none is needed. No stream of a file exists: files are read at offsets.

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime::format_err;
use wasmtime_wasi::p2::bindings::cli::{stderr, stdin, stdout};
use wasmtime_wasi::p2::bindings::sync::io::poll;
use wasmtime_wasi::p2::bindings::sync::io::streams::{self, InputStream, OutputStream};
use wasmtime_wasi::p2::{DynPollable, StreamError, StreamResult};

/// Bytes an output stream takes at a time.
const ROOM: u64 = 64 << 10;

/// Bytes it takes in one step with flushing (WASI 0.2, `output-stream`).
const FLUSHED_ROOM: u64 = 4096;

/// The most that is waited for at a time.
const MAX_POLLED: usize = 4096;

/// A stream: at its end for who reads, taking everything of who writes.
struct Nowhere;

/// What is ready as soon as it is asked for.
struct Ready;

/// The streams of one instance.
pub(super) struct Streams<'a> {
    pub(super) table: &'a mut ResourceTable,
}

/// How the linker gets at them.
pub(super) struct Lend;

impl HasData for Lend {
    type Data<'a> = Streams<'a>;
}

impl Streams<'_> {
    fn make<T: 'static>(&mut self) -> wasmtime::Result<Resource<T>> {
        Ok(Resource::new_own(self.table.push(Nowhere)?.rep()))
    }

    fn is_there<T: 'static>(&self, stream: &Resource<T>) -> wasmtime::Result<()> {
        self.table
            .get(&Resource::<Nowhere>::new_borrow(stream.rep()))?;
        Ok(())
    }

    fn end<T: 'static>(&mut self, stream: &Resource<T>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Nowhere>::new_own(stream.rep()))?;
        Ok(())
    }

    fn take(&self, stream: &Resource<OutputStream>, bytes: u64, room: u64) -> StreamResult<()> {
        self.is_there(stream).map_err(StreamError::Trap)?;
        if bytes > room {
            let error = format_err!("more was written at once than the stream takes");
            return Err(StreamError::Trap(error));
        }
        Ok(())
    }

    fn at_end<T>(&self, stream: &Resource<InputStream>) -> StreamResult<T> {
        self.is_there(stream).map_err(StreamError::Trap)?;
        Err(StreamError::Closed)
    }

    fn ready<T: 'static>(
        &mut self,
        stream: &Resource<T>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.is_there(stream)?;
        Ok(Resource::new_own(self.table.push(Ready)?.rep()))
    }
}

impl stdin::Host for Streams<'_> {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<InputStream>> {
        self.make()
    }
}

impl stdout::Host for Streams<'_> {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<OutputStream>> {
        self.make()
    }
}

impl stderr::Host for Streams<'_> {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<OutputStream>> {
        self.make()
    }
}

impl streams::Host for Streams<'_> {
    fn convert_stream_error(
        &mut self,
        error: StreamError,
    ) -> wasmtime::Result<streams::StreamError> {
        match error {
            StreamError::Trap(error) => Err(error),
            _ => Ok(streams::StreamError::Closed),
        }
    }
}

type In = Resource<InputStream>;
type Out = Resource<OutputStream>;

fn length(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

impl streams::HostInputStream for Streams<'_> {
    fn read(&mut self, stream: In, _: u64) -> StreamResult<Vec<u8>> {
        self.at_end(&stream)
    }

    fn blocking_read(&mut self, stream: In, _: u64) -> StreamResult<Vec<u8>> {
        self.at_end(&stream)
    }

    fn skip(&mut self, stream: In, _: u64) -> StreamResult<u64> {
        self.at_end(&stream)
    }

    fn blocking_skip(&mut self, stream: In, _: u64) -> StreamResult<u64> {
        self.at_end(&stream)
    }

    fn subscribe(&mut self, stream: In) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready(&stream)
    }

    fn drop(&mut self, stream: In) -> wasmtime::Result<()> {
        self.end(&stream)
    }
}

impl streams::HostOutputStream for Streams<'_> {
    fn check_write(&mut self, stream: Out) -> StreamResult<u64> {
        self.take(&stream, 0, ROOM).map(|()| ROOM)
    }

    fn write(&mut self, stream: Out, bytes: Vec<u8>) -> StreamResult<()> {
        self.take(&stream, length(&bytes), ROOM)
    }

    fn blocking_write_and_flush(&mut self, stream: Out, bytes: Vec<u8>) -> StreamResult<()> {
        self.take(&stream, length(&bytes), FLUSHED_ROOM)
    }

    fn flush(&mut self, stream: Out) -> StreamResult<()> {
        self.take(&stream, 0, ROOM)
    }

    fn blocking_flush(&mut self, stream: Out) -> StreamResult<()> {
        self.take(&stream, 0, ROOM)
    }

    fn subscribe(&mut self, stream: Out) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready(&stream)
    }

    fn write_zeroes(&mut self, stream: Out, count: u64) -> StreamResult<()> {
        self.take(&stream, count, ROOM)
    }

    fn blocking_write_zeroes_and_flush(&mut self, stream: Out, count: u64) -> StreamResult<()> {
        self.take(&stream, count, FLUSHED_ROOM)
    }

    fn splice(&mut self, stream: Out, from: In, _: u64) -> StreamResult<u64> {
        self.take(&stream, 0, ROOM)?;
        self.at_end(&from)
    }

    fn blocking_splice(&mut self, stream: Out, from: In, count: u64) -> StreamResult<u64> {
        self.splice(stream, from, count)
    }

    fn drop(&mut self, stream: Out) -> wasmtime::Result<()> {
        self.end(&stream)
    }
}

impl poll::Host for Streams<'_> {
    fn poll(&mut self, list: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        // WASI 0.2 has an empty list trap.
        if list.is_empty() || list.len() > MAX_POLLED {
            return Err(format_err!("{} things were waited for", list.len()));
        }
        Ok((0..).take(list.len()).collect())
    }
}

impl poll::HostPollable for Streams<'_> {
    fn ready(&mut self, _: Resource<DynPollable>) -> wasmtime::Result<bool> {
        Ok(true)
    }

    fn block(&mut self, _: Resource<DynPollable>) -> wasmtime::Result<()> {
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Ready>::new_own(pollable.rep()))?;
        Ok(())
    }
}
