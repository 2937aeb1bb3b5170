//! Revision 2026-07-28: every request carries its version and capabilities,
//! and nothing is inferred from an earlier one. Which methods there are, and
//! in which order a request is judged.

use super::message::Part;
use super::reply::Fault;
use super::request::{Request, Sent};
use super::{Identity, PROTOCOL_VERSION, results};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The method that no other revision has.
pub(super) const DISCOVER: &str = "server/discover";

const METHODS: &str = "server/discover, tools/list and tools/call";

/// Whether a request is of this era, where it may be of either. One with half
/// of what is needed is told the rest, so half is enough.
pub(super) fn is_meant(method: &str, sent: &Sent<'_>) -> bool {
    method == DISCOVER || sent.version().or(sent.capabilities()).is_some()
}

/// Judges a request in the order the protocol asks for: version first, then
/// `_meta`, then the method, then its parameters.
pub(super) fn request(
    identity: &Identity,
    method: &str,
    sent: &Sent<'_>,
) -> Result<Request, Fault> {
    match sent.version().map(Part::string) {
        Some(Some(version)) if version == PROTOCOL_VERSION => {}
        Some(Some(version)) => return Err(Fault::unsupported_version(&version)),
        None if method == "initialize" => {
            let requested = sent.asked_version();
            return Err(Fault::handshake(&requested.unwrap_or_default()));
        }
        Some(None) | None => return Err(missing(VERSION_KEY, "a string")),
    }
    if !sent.capabilities().is_some_and(Part::is_object) {
        return Err(missing(CAPABILITIES_KEY, "an object"));
    }
    match method {
        DISCOVER => Ok(Request::Answer(results::discover(identity))),
        "tools/list" => sent.list(),
        "tools/call" => sent.call(),
        _ => Err(Fault::method_not_found(METHODS)),
    }
}

fn missing(key: &str, kind: &str) -> Fault {
    Fault::invalid_params(format!("params._meta must hold {key:?}, {kind}"))
}
