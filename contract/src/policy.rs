//! Include and exclude globs.
