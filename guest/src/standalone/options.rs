//! The command line of the component on its own: the flags of the native
//! server, as far as a component can keep to them. It makes options of them and
//! opens nothing; limits come from the table of limits.

use std::fmt::Write;

use lexopt::{Arg, Parser, ValueExt};
use preopen_contract::about::NAME;
use preopen_contract::flags;
use preopen_contract::limits::{Limit, Limits};
use preopen_contract::policy::{Policy, PolicyError};
use preopen_contract::session::{PROTOCOL_VERSION, Protocol};

use crate::bindings::exports::preopen::mcp::tools::{Toolset, WriteMode};

/// What cannot be kept to in here, and who can.
const ELSEWHERE: [(&str, &str); 8] = [
    ("component", "it is one itself"),
    (
        "root",
        "the directory is the first one that the component is granted, as in wasmtime run --dir DIR::/",
    ),
    (
        "max-call-memory",
        "the host of the component bounds its memory, as in wasmtime run -W max-memory-size=BYTES",
    ),
    ("workers", "a component has one thread"),
    (
        "cursor-key-file",
        "a component has no file but those of the root",
    ),
    ("audit", "a component has no file but those of the root"),
    (
        "lockdown",
        "what the process gives up is up to the host of the component",
    ),
    ("verbose", "a component has nothing to tell"),
];

/// What the command line asks for.
pub(super) enum Invocation {
    Serve(Box<Options>),
    /// Print this text: the help or the version.
    Print(String),
}

/// What to serve, and how.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) policy: Policy,
    pub(super) toolset: Toolset,
    pub(super) protocol: Protocol,
    /// Only these tools; empty means all of the toolset.
    pub(super) tools: Vec<String>,
    pub(super) read_only: bool,
    pub(super) write_mode: WriteMode,
    /// Whether content hashes are made with a key.
    pub(super) keyed: bool,
    pub(super) limits: Limits,
}

/// The flags as they were given.
#[derive(Default)]
struct Flags {
    include: Vec<String>,
    exclude: Vec<String>,
    toolset: Option<Toolset>,
    protocol: Option<Protocol>,
    tools: Vec<String>,
    read_only: bool,
    allow_blocked: bool,
    write_mode: Option<WriteMode>,
    keyed: Option<bool>,
    limits: Vec<(&'static str, u64)>,
    /// Names of flags that stand once and were seen.
    seen: Vec<String>,
}

/// Reads the command line, without the program's name. The error is one line that names the flag.
pub(super) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Invocation, String> {
    let mut flags = Flags::default();
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(|error| unexpected(&error))? {
        let flag = match argument {
            Arg::Long(name) => name.to_owned(),
            Arg::Short('h') => "help".to_owned(),
            Arg::Short('V') => "version".to_owned(),
            Arg::Short('d') => "root".to_owned(),
            Arg::Short('v') => "verbose".to_owned(),
            Arg::Short(other) => {
                return Err(format!("-{other}: there is no such flag (see --help)"));
            }
            Arg::Value(value) => {
                let value = value.to_string_lossy();
                return Err(format!("`{value}`: not expected here (see --help)"));
            }
        };
        match flag.as_str() {
            "help" => return Ok(Invocation::Print(help())),
            "version" => {
                let version = env!("CARGO_PKG_VERSION");
                return Ok(Invocation::Print(format!("{NAME} {version}\n")));
            }
            flag => flags.take(flag, &mut parser)?,
        }
    }
    flags
        .options()
        .map(|options| Invocation::Serve(Box::new(options)))
}

impl Flags {
    fn take(&mut self, flag: &str, parser: &mut Parser) -> Result<(), String> {
        let repeats = matches!(flag, "include" | "exclude" | "tools");
        if !repeats && self.seen.iter().any(|seen| seen == flag) {
            return Err(format!("--{flag}: it is given twice"));
        }
        self.seen.push(flag.to_owned());
        match flag {
            "include" => self.include.push(text(flag, "GLOB", parser)?),
            "exclude" => self.exclude.push(text(flag, "GLOB", parser)?),
            "tools" => {
                let names = text(flag, "NAME,...", parser)?;
                self.tools.extend(names.split(',').map(str::to_owned));
            }
            "toolset" => {
                let choices = [
                    ("core", Toolset::Core),
                    ("workspace", Toolset::Workspace),
                    ("all", Toolset::All),
                ];
                self.toolset = Some(choice(flag, &choices, parser)?);
            }
            "protocol" => {
                let choices = [
                    (PROTOCOL_VERSION, Protocol::Modern),
                    ("legacy", Protocol::Legacy),
                    ("both", Protocol::Both),
                ];
                self.protocol = Some(choice(flag, &choices, parser)?);
            }
            "write-mode" => {
                let choices = [
                    ("replace", WriteMode::Replace),
                    ("create-new", WriteMode::CreateNew),
                ];
                self.write_mode = Some(choice(flag, &choices, parser)?);
            }
            "content-hash" => {
                let choices = [("sha256", false), ("hmac-sha256", true)];
                self.keyed = Some(choice(flag, &choices, parser)?);
            }
            "read-only" => self.read_only = none(flag, parser)?,
            "allow-blocked" => self.allow_blocked = none(flag, parser)?,
            _ => self.take_other(flag, parser)?,
        }
        Ok(())
    }

    /// A limit, or what is not a flag here.
    fn take_other(&mut self, flag: &str, parser: &mut Parser) -> Result<(), String> {
        if let Some((_, why)) = ELSEWHERE.iter().find(|(name, _)| *name == flag) {
            return Err(format!("--{flag}: it is not for a component; {why}"));
        }
        let limit = limits().find(|limit| limit.flag == flag);
        let limit = limit.ok_or_else(|| format!("--{flag}: there is no such flag (see --help)"))?;
        let value = limit
            .parse(&text(flag, "N", parser)?)
            .map_err(|error| format!("--{flag}: {error}"))?;
        self.limits.push((limit.flag, value));
        Ok(())
    }

    fn options(self) -> Result<Options, String> {
        let toolset = self.toolset.unwrap_or(Toolset::Core);
        let is_core = toolset == Toolset::Core;
        let mut include = self.include;
        if include.is_empty() {
            if is_core {
                return Err(flags::NO_INCLUDE.to_owned());
            }
            include.push(flags::EVERYTHING.to_owned());
        }
        let policy = Policy::new(&include, &self.exclude).map_err(|error| glob(&error))?;
        let mut limits = match is_core {
            true => Limits::core(),
            false => Limits::workspace(),
        };
        for (flag, value) in self.limits {
            if let Some(field) = limits.field(flag) {
                *field = value;
            }
        }
        Ok(Options {
            policy: match is_core || self.allow_blocked {
                true => policy,
                false => policy.blocking(),
            },
            toolset,
            protocol: self.protocol.unwrap_or(match is_core {
                true => Protocol::Modern,
                false => Protocol::Both,
            }),
            tools: self.tools,
            read_only: self.read_only,
            write_mode: self.write_mode.unwrap_or(WriteMode::Replace),
            keyed: self.keyed.unwrap_or(false),
            limits,
        })
    }
}

/// The limits that a component keeps to by itself.
fn limits() -> impl Iterator<Item = &'static Limit> {
    Limits::TABLE
        .iter()
        .filter(|limit| ELSEWHERE.iter().all(|(flag, _)| *flag != limit.flag))
}

fn glob(error: &PolicyError) -> String {
    let flag = match error.is_include() {
        true => "include",
        false => "exclude",
    };
    format!("--{flag}: {error}")
}

fn text(flag: &str, name: &str, parser: &mut Parser) -> Result<String, String> {
    let value = parser
        .value()
        .map_err(|_| format!("--{flag} {name}: the value is missing"))?;
    value
        .string()
        .map_err(|_| format!("--{flag}: the value is not UTF-8"))
}

fn choice<T: Copy>(flag: &str, choices: &[(&str, T)], parser: &mut Parser) -> Result<T, String> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    let value = parser
        .value()
        .map_err(|_| format!("--{flag}: a value is missing, one of {names}"))?;
    let value = value.to_string_lossy();
    let chosen = choices.iter().find(|(name, _)| *name == value);
    chosen
        .map(|(_, chosen)| *chosen)
        .ok_or_else(|| format!("--{flag}: `{value}` is not one of {names}"))
}

/// True, for a flag that takes no value.
fn none(flag: &str, parser: &mut Parser) -> Result<bool, String> {
    match parser.optional_value() {
        None => Ok(true),
        Some(value) => {
            let value = value.to_string_lossy();
            Err(format!("--{flag}: it takes no value, and got `{value}`"))
        }
    }
}

fn unexpected(error: &lexopt::Error) -> String {
    match error {
        lexopt::Error::UnexpectedValue { option, value } => {
            let value = value.to_string_lossy();
            format!("{option}: it takes no value, and got `{value}`")
        }
        error => format!("{error} (see --help)"),
    }
}

fn help() -> String {
    let mut help = String::from(
        "An MCP server for the files of one directory, as a component: it serves stdin and stdout.

Usage: wasmtime run --dir DIR::/ preopen-guest.wasm --include GLOB [OPTIONS]
       wasmtime run --dir DIR::/ preopen-guest.wasm --toolset workspace [OPTIONS]

Options:
",
    );
    for (flag, about) in [
        ("include GLOB", flags::INCLUDE),
        ("exclude GLOB", flags::EXCLUDE),
        (
            "toolset SET",
            &format!("{}: core, workspace, all [default: core]", flags::TOOLSET),
        ),
        ("protocol ERA", flags::PROTOCOL),
        ("allow-blocked", flags::ALLOW_BLOCKED),
        ("read-only", "Serve the reading tools alone"),
        ("tools NAME,...", flags::TOOLS),
        (
            "write-mode MODE",
            &format!(
                "{} (replace, create-new) [default: replace]",
                flags::WRITE_MODE
            ),
        ),
        (
            "content-hash HASH",
            &format!(
                "{} (sha256, hmac-sha256) [default: sha256]",
                flags::CONTENT_HASH
            ),
        ),
    ] {
        let _ = writeln!(help, "      --{flag}\n          {about}");
    }
    for limit in limits() {
        let _ = writeln!(
            help,
            "      --{} N\n          Bound: {} [default: {}]",
            limit.flag,
            limit.about.trim(),
            limit.defaults()
        );
    }
    help.push_str(
        "  -h, --help\n          Print this\n  -V, --version\n          Print the version\n",
    );
    help
}
