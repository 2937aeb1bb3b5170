//! What users of such servers stumbled over, as far as no other module holds
//! it. Each is the whole kind, not the one input that someone once came to grief
//! with, and named after what has to hold.

mod changing;
mod content;
mod cut;
mod desktop;
mod protocol;
mod search;
