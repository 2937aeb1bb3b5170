//! Revision 2026-07-28: every request carries its version and capabilities,
//! and nothing is inferred from an earlier one. Which methods there are, and
//! what their parameters must look like; what a tool makes of its arguments is
//! not known here.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::id::RequestId;
use super::message::{present, string};
use super::reply::{self, Fault};
use super::{Identity, PROTOCOL_VERSION};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request that is in order.
pub(super) enum Request {
    /// Its result is known at once, as JSON.
    Answer(String),
    /// `tools/list`.
    List,
    /// `tools/call`.
    Call(CallParams),
}

/// The longest progress token that is taken, in bytes as it is written: it
/// comes back with every report.
const MAX_TOKEN_BYTES: usize = 256;

/// The parameters of `tools/call`.
pub(super) struct CallParams {
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) progress_token: Option<String>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, deserialize_with = "present", rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    cursor: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        rename = "protocolVersion"
    )]
    protocol_version: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/protocolVersion"
    )]
    version: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/clientCapabilities"
    )]
    capabilities: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        rename = "progressToken"
    )]
    progress_token: Option<&'a RawValue>,
}

/// Judges a request in the order the protocol asks for: version first, then
/// `_meta`, then the method, then its parameters.
pub(super) fn request(
    identity: &Identity,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Request, Fault> {
    let params: Params<'_> = object(params, "params")?;
    let meta: Meta<'_> = object(params.meta, "params._meta")?;
    match meta.version.map(string) {
        Some(Some(version)) if version == PROTOCOL_VERSION => {}
        Some(Some(version)) => return Err(Fault::unsupported_version(&version)),
        None if method == "initialize" => {
            let requested = params.protocol_version.and_then(string);
            return Err(Fault::handshake(&requested.unwrap_or_default()));
        }
        Some(None) | None => return Err(missing(VERSION_KEY, "a string")),
    }
    if !meta.capabilities.is_some_and(is_object) {
        return Err(missing(CAPABILITIES_KEY, "an object"));
    }
    match method {
        "server/discover" => Ok(Request::Answer(reply::discover(identity))),
        "tools/list" if params.cursor.is_some_and(|cursor| cursor.get() != "null") => Err(
            Fault::invalid_params("params.cursor is not valid: the list of tools has one page"),
        ),
        "tools/list" => Ok(Request::List),
        "tools/call" => call(&params, &meta).map(Request::Call),
        _ => Err(Fault::method_not_found()),
    }
}

/// The request a `notifications/cancelled` names, if it names one.
pub(super) fn cancelled(params: Option<&RawValue>) -> Option<RequestId> {
    object::<Params<'_>>(params, "params")
        .ok()?
        .request_id
        .and_then(RequestId::read)
}

fn call(params: &Params<'_>, meta: &Meta<'_>) -> Result<CallParams, Fault> {
    let name = params
        .name
        .and_then(string)
        .ok_or_else(|| Fault::invalid_params("params.name must be a string: the tool's name"))?;
    let arguments = match params.arguments {
        None => "{}",
        Some(raw) if raw.get() == "null" => "{}",
        Some(raw) if is_object(raw) => raw.get(),
        Some(_) => return Err(Fault::invalid_params("params.arguments must be an object")),
    };
    Ok(CallParams {
        name,
        arguments: arguments.to_owned(),
        progress_token: meta
            .progress_token
            .and_then(RequestId::read)
            .map(|token| token.json())
            .filter(|token| token.len() <= MAX_TOKEN_BYTES),
    })
}

fn object<'a, T: Default + Deserialize<'a>>(
    raw: Option<&'a RawValue>,
    what: &str,
) -> Result<T, Fault> {
    let Some(raw) = raw else {
        return Ok(T::default());
    };
    if !is_object(raw) {
        return Err(Fault::invalid_params(format!("{what} must be an object")));
    }
    serde_json::from_str(raw.get()).map_err(|error| {
        Fault::invalid_params(if error.is_data() {
            format!("a member of {what} is given twice")
        } else {
            format!("a member of {what} has a name that is not Unicode text")
        })
    })
}

fn missing(key: &str, kind: &str) -> Fault {
    Fault::invalid_params(format!("params._meta must hold {key:?}, {kind}"))
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}
