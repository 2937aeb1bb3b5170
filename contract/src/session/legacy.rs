//! The revisions with a handshake, 2024-11-05 to 2025-11-25. The version is
//! settled once for a connection, and may be settled again. Clients exist that
//! never do: a ping and the tools' own methods are served to them as by the
//! newest version.

use super::era::Version;
use super::modern;
use super::reply::Fault;
use super::request::{Request, Sent};

const METHODS: &str = "initialize, ping, tools/list and tools/call";

/// What other servers offer and this one does not: asking again after the
/// handshake would not help.
const NOT_OFFERED: [&str; 5] = [
    "logging/",
    "resources/",
    "prompts/",
    "completion/",
    "roots/",
];

/// Judges a request on a connection that has settled on `version`. The
/// handshake and a ping succeed whatever their parameters are.
pub(super) fn request(
    version: Option<Version>,
    method: &str,
    sent: Result<Sent<'_>, Fault>,
) -> Result<Request, Fault> {
    match method {
        "initialize" => {
            let asked = sent.ok().and_then(|sent| sent.asked_version());
            Ok(Request::Initialize(Version::offered(asked.as_deref())))
        }
        "ping" => Ok(Request::Answer("{}".to_owned())),
        "tools/list" => sent?.list(),
        "tools/call" => sent?.call(),
        _ if version.is_none() && !is_known(method) => Err(Fault::invalid_request(
            "send initialize first; before it only ping, tools/list and tools/call are served",
        )),
        _ => Err(Fault::method_not_found(METHODS)),
    }
}

/// Whether it is known, before a version is, that no such method is served.
fn is_known(method: &str) -> bool {
    method == modern::DISCOVER || NOT_OFFERED.iter().any(|family| method.starts_with(family))
}
