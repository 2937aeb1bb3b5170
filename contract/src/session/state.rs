//! What a connection remembers: the version it settled on, which requests still
//! have an answer to come, and the batches that wait for one. No message is
//! known here.

use std::collections::HashMap;

use super::batch::{Batch, Place};
use super::era::Version;
use super::id::RequestId;

/// All that is remembered of a connection.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The version of the last handshake.
    pub(super) version: Option<Version>,
    in_flight: HashMap<RequestId, InFlight>,
    batches: HashMap<u64, Batch>,
    /// Bytes of the answers in `batches`.
    held: usize,
    last: u64,
}

/// A request whose answer is still to come.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) serial: u64,
    /// Where the answer belongs, unless it is a line of its own.
    pub(super) place: Option<Place>,
}

impl State {
    /// Whether the id's one answer is still to come, so that no error may have it.
    pub(super) fn is_in_flight(&self, id: &RequestId) -> bool {
        self.in_flight.contains_key(id)
    }

    /// Takes note of a request in flight, whose id must be free; its serial
    /// number.
    pub(super) fn admit(&mut self, id: RequestId, place: Option<Place>) -> u64 {
        let serial = self.number();
        self.in_flight.insert(id, InFlight { serial, place });
        serial
    }

    /// Whether this very request is still to be answered.
    pub(super) fn is_open(&self, id: &RequestId, serial: u64) -> bool {
        let request = self.in_flight.get(id);
        request.is_some_and(|request| request.serial == serial)
    }

    /// The request, if it is still to be answered; it no longer is afterwards.
    pub(super) fn settle(&mut self, id: &RequestId, serial: u64) -> Option<InFlight> {
        let is_open = self.is_open(id, serial);
        is_open.then(|| self.in_flight.remove(id)).flatten()
    }

    /// [`State::settle`] for whoever has the id in flight.
    pub(super) fn withdraw(&mut self, id: &RequestId) -> Option<InFlight> {
        self.in_flight.remove(id)
    }

    /// Begins a batch of so many places; its number.
    pub(super) fn begin(&mut self, places: usize) -> u64 {
        let number = self.number();
        self.batches.insert(number, Batch::new(places));
        number
    }

    /// Whether the batch of this place takes an answer of so many bytes.
    pub(super) fn has_room(&self, place: Place, bytes: usize) -> bool {
        let batch = self.batches.get(&place.batch);
        batch.is_none_or(|batch| batch.has_room(bytes))
    }

    /// Fills a place; the line of the batch, if it was the last one.
    pub(super) fn fill(&mut self, place: Place, answer: Option<String>) -> Option<String> {
        let batch = self.batches.get_mut(&place.batch)?;
        self.held += answer.as_ref().map_or(0, String::len);
        batch.fill(place.at, answer);
        if !batch.is_complete() {
            return None;
        }
        let batch = self.batches.remove(&place.batch)?;
        self.held -= batch.bytes();
        batch.line()
    }

    /// Bytes of answers that wait for the rest of their batch.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// A number that nothing else on this connection has.
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}
