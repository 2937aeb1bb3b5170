//! What the fuzzer calls; no other build has it.

/// Makes the file operations that `data` chooses, on a real directory and on a
/// model of it, and panics where the two differ.
pub fn confine(data: &[u8]) {
    crate::confine::sequence::check(data);
}
