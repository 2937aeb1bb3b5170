//! Content hashes, SHA-256 or HMAC-SHA-256 (RFC 2104), and the one of what is
//! written, which a thread of its own takes: whoever writes waits for the disk
//! meanwhile. It knows neither files nor who asks for a hash.

mod thread;

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use preopen_contract::hash::{self, hex};
use sha2::{Digest, Sha256};

use self::thread::{Slot, Task};

/// Bytes that wait to be hashed; from there on they are.
const MAX_WAITING: usize = 1 << 20;

/// A content hash in the making.
#[derive(Clone, Debug)]
pub(crate) enum Hash {
    Plain(Sha256),
    Keyed(Box<Hmac<Sha256>>),
}

impl Hash {
    /// One of no bytes yet, with a key if there is one.
    pub(crate) fn new(key: Option<&[u8]>) -> Self {
        match key {
            None => Self::Plain(Sha256::new()),
            // HMAC takes every key, so the fallback is never reached.
            Some(key) => Self::Keyed(Box::new(
                Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default())),
            )),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(hash) => Digest::update(hash, bytes),
            Self::Keyed(hash) => Mac::update(&mut **hash, bytes),
        }
    }

    /// Its text.
    pub(crate) fn finish(self) -> String {
        let (keyed, digest) = match self {
            Self::Plain(hash) => (false, hash.finalize()),
            Self::Keyed(hash) => (true, hash.finalize().into_bytes()),
        };
        let prefix = hash::prefix(keyed);
        let mut text = String::with_capacity(prefix.len() + hash::LENGTH);
        text.push_str(prefix);
        hex(&mut text, &digest);
        text
    }
}

/// The hash of what is written, in the order in which it is.
#[derive(Debug)]
pub(crate) struct Written {
    /// That of nothing.
    none: Hash,
    hash: Place,
    waiting: Vec<Vec<u8>>,
    bytes: usize,
}

/// Where a hash is.
#[derive(Debug)]
enum Place {
    Here(Hash),
    /// With the thread, which gives it back.
    There(Arc<Slot>),
    /// It was lost with the thread.
    Nowhere,
}

impl Written {
    /// Nothing, with a key if there is one.
    pub(crate) fn new(key: Option<&[u8]>) -> Self {
        let none = Hash::new(key);
        Self {
            hash: Place::Here(none.clone()),
            none,
            waiting: Vec::new(),
            bytes: 0,
        }
    }

    /// Forgets what was written: something else is from here on.
    pub(crate) fn restart(&mut self) {
        self.hash = Place::Here(self.none.clone());
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Takes what was written next.
    pub(crate) fn add(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.waiting.push(bytes);
        if self.bytes >= MAX_WAITING {
            self.begin();
        }
    }

    /// Has what was taken so far hashed while the caller does something else.
    pub(crate) fn begin(&mut self) {
        if self.bytes == 0 {
            return;
        }
        // One that is there already comes back first: the pieces have an order.
        let Some(hash) = self.back() else {
            return;
        };
        let task = Box::new(Task {
            hash,
            pieces: std::mem::take(&mut self.waiting),
        });
        self.bytes = 0;
        self.hash = match thread::give(task) {
            Ok(slot) => Place::There(slot),
            Err(task) => Place::Here(task.hashed()),
        };
    }

    /// The hash of all that was taken; none if the thread is gone.
    pub(crate) fn finish(mut self) -> Option<Hash> {
        let mut hash = self.back()?;
        for piece in &self.waiting {
            hash.update(piece);
        }
        Some(hash)
    }

    /// The hash as it is without what waits.
    fn back(&mut self) -> Option<Hash> {
        match std::mem::replace(&mut self.hash, Place::Nowhere) {
            Place::Here(hash) => Some(hash),
            Place::There(slot) => slot.take(),
            Place::Nowhere => None,
        }
    }
}

#[cfg(test)]
mod tests;
