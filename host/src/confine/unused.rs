//! The answers of every operation the product does not need. They are given
//! without a look at handle or path: what is never done cannot be done wrong.

use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// For what this server never does to a file.
pub(super) fn unsupported<T>() -> FsResult<T> {
    Err(ErrorCode::Unsupported.into())
}

/// For everything about symbolic links: none is made, read or followed.
pub(super) fn not_permitted<T>() -> FsResult<T> {
    Err(ErrorCode::NotPermitted.into())
}
