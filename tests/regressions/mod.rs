//! Cases from the field, each under its id, as far as toolset core can meet
//! them and no other module holds them. Each is the whole kind, not the one
//! input that someone once stumbled over.

mod changing;
mod content;
mod protocol;
mod search;
