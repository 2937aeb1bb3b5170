//! A build without the compiler: it says so.

use std::path::Path;

use super::ComponentError;

/// Compiles nothing.
pub(super) fn compiled(_: &[u8], _: Option<&Path>) -> Result<Vec<u8>, ComponentError> {
    Err(ComponentError::NoCompiler)
}
