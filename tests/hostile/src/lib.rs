//! A component that wants out. It holds what the tools' component holds, one
//! directory, and tries by raw calls of WASI to reach anything else: a file
//! that is not served, a right it was not given, the host's time or memory.
//! It knows the directory it will find and none of the host's code; what it
//! says of itself is only worth what the disk says too.

// Not `forbid`: the generated exports are unsafe functions, and forging a
// handle is what `handles` is there for. Nothing else is.
#![deny(unsafe_code)]

mod attempts;
mod bounds;
mod flags;
#[expect(
    unsafe_code,
    reason = "a handle or a pointer can only be forged behind the bindings' back"
)]
mod handles;
mod links;
mod names;
mod paths;
mod reach;
mod rights;
mod special;
mod surroundings;
mod tally;
mod temporaries;
mod waste;
mod writes;

/// The bindings of `wit/hostile.wit`.
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "hostile" });
}

use bindings::exports::preopen::hostile::attempts::{Attempt, Guest, Outcome};
use wasip2::filesystem::preopens::get_directories;

/// What the world's exports are called on.
struct Component;

impl Guest for Component {
    fn all() -> Vec<Attempt> {
        attempts::all()
            .map(|attempt| Attempt {
                name: attempt.name.to_owned(),
                what: attempt.what.to_owned(),
            })
            .collect()
    }

    fn run(name: String) -> Outcome {
        let Some(attempt) = attempts::all().find(|attempt| attempt.name == name) else {
            return Outcome::Refused("no attempt has this name".to_owned());
        };
        match get_directories().into_iter().next() {
            Some((root, _)) => (attempt.run)(&root),
            None => Outcome::Refused("no directory is granted".to_owned()),
        }
    }
}

/// The exports themselves, generated.
#[expect(unsafe_code, reason = "the canonical ABI passes raw pointers")]
mod exports {
    use crate::{Component, bindings};

    bindings::export!(Component with_types_in bindings);
}
