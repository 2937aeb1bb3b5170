//! The parameters of a request, and what both eras make of them alike. What a
//! tool makes of its arguments is not known here.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::era::Version;
use super::id::RequestId;
use super::message::{Part, present};
use super::reply::Fault;

/// The longest progress token that is taken, in bytes as it is written: it
/// comes back with every report.
const MAX_TOKEN_BYTES: usize = 256;

/// A request that is in order.
pub(super) enum Request {
    /// Its result is known at once, as JSON.
    Answer(String),
    /// `initialize`, and the version that is spoken from now on.
    Initialize(Version),
    /// `tools/list`.
    List,
    /// `tools/call`.
    Call(CallParams),
}

/// The parameters of `tools/call`.
pub(super) struct CallParams {
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) progress_token: Option<String>,
}

/// What came with a request, as far as anything here looks at it.
#[derive(Default)]
pub(super) struct Sent<'a> {
    /// None came, or nothing.
    all: Option<Part<'a>>,
    params: Params<'a>,
    meta: Meta<'a>,
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

/// `params._meta`.
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

/// What null means where an object is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// A value of the wrong type.
    Wrong,
    /// Nothing at all: some clients that have shaken hands send it.
    Absent,
}

impl<'a> Sent<'a> {
    /// Reads `params` and its `_meta`.
    pub(super) fn read(params: Option<Part<'a>>, null: Null) -> Result<Self, Fault> {
        let given = |part: &Part<'_>| null == Null::Wrong || part.brief() != "null";
        let Some(all) = params.filter(given) else {
            return Ok(Self::default());
        };
        let params: Params<'a> = object(all, "params")?;
        let meta = params.meta.map(|brief| all.part(brief)).filter(given);
        let meta = meta.map(|meta| object(meta, "params._meta")).transpose()?;
        Ok(Self {
            all: Some(all),
            params,
            meta: meta.unwrap_or_default(),
        })
    }

    /// One of the members, as it was sent.
    fn part(&self, member: Option<&'a RawValue>) -> Option<Part<'a>> {
        Some(self.all?.part(member?))
    }

    /// The version that `_meta` names.
    pub(super) fn version(&self) -> Option<Part<'a>> {
        self.part(self.meta.version)
    }

    /// The capabilities that `_meta` names.
    pub(super) fn capabilities(&self) -> Option<Part<'a>> {
        self.part(self.meta.capabilities)
    }

    /// The version that the handshake asks for.
    pub(super) fn asked_version(&self) -> Option<String> {
        self.part(self.params.protocol_version)?.string()
    }

    /// `tools/list`.
    pub(super) fn list(&self) -> Result<Request, Fault> {
        match self.params.cursor {
            Some(cursor) if cursor.get() != "null" => Err(Fault::invalid_params(
                "params.cursor is not valid: the list of tools has one page",
            )),
            _ => Ok(Request::List),
        }
    }

    /// `tools/call`.
    pub(super) fn call(&self) -> Result<Request, Fault> {
        let name = self.part(self.params.name).and_then(Part::string);
        let name = name.ok_or_else(|| {
            Fault::invalid_params("params.name must be a string: the tool's name")
        })?;
        let arguments = match self.part(self.params.arguments) {
            None => "{}",
            Some(part) if part.brief() == "null" => "{}",
            Some(part) if part.is_object() => part.get(),
            Some(_) => return Err(Fault::invalid_params("params.arguments must be an object")),
        };
        let token = self
            .part(self.meta.progress_token)
            .and_then(RequestId::read);
        Ok(Request::Call(CallParams {
            name,
            arguments: arguments.to_owned(),
            progress_token: token
                .map(|token| token.json())
                .filter(|token| token.len() <= MAX_TOKEN_BYTES),
        }))
    }
}

/// The request a `notifications/cancelled` names, if it names one.
pub(super) fn cancelled(params: Option<Part<'_>>) -> Option<RequestId> {
    let params = params?;
    let id = object::<Params<'_>>(params, "params").ok()?.request_id?;
    RequestId::read(params.part(id))
}

fn object<'a, T: Deserialize<'a>>(part: Part<'a>, what: &str) -> Result<T, Fault> {
    if !part.is_object() {
        return Err(Fault::invalid_params(format!("{what} must be an object")));
    }
    serde_json::from_str(part.brief()).map_err(|error| {
        Fault::invalid_params(if error.is_data() {
            format!("a member of {what} is given twice")
        } else {
            format!("a member of {what} has a name that is not Unicode text")
        })
    })
}
