//! Every attempt has a row, and ends as its row says.

#![allow(clippy::unwrap_used)]

use super::{Hostile, World};
use crate::root::{Options, Root};

/// Little time and memory, so that what never ends ends soon.
fn hostile(world: &World, read_only: bool) -> Hostile {
    let mut options = Options {
        read_only,
        ..world.options()
    };
    options.limits.call_timeout = 500;
    options.limits.max_call_memory = 64 << 20;
    Hostile::new(&Root::open(options).unwrap()).unwrap()
}
