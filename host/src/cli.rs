//! The command line: what each flag is called and what it says. It makes
//! options of it and starts nothing; limits come from the table of limits.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use preopen_contract::flags;
use preopen_mcp::limits::Limits;
use preopen_mcp::{ContentHash, Lockdown, Options, PROTOCOL_VERSION, Protocol, Toolset, WriteMode};

use crate::usage::UsageError;

/// The most that is read of a key file, in bytes.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// What the command line asks for.
pub(crate) enum Invocation {
    /// Serve stdin and stdout.
    Serve {
        options: Box<Options>,
        /// In the place of our own tools.
        component: Option<PathBuf>,
        audit: Option<PathBuf>,
        lockdown: Lockdown,
        verbose: u8,
    },
    /// Say of each path whether it is served, and what lies there.
    Check {
        options: Box<Options>,
        paths: Vec<OsString>,
    },
    /// Show it working.
    Demo,
    /// Write the component.
    Guest,
    /// Print this text: the help or the version.
    Print(String),
}

/// Reads the command line, without the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Invocation, UsageError> {
    let arguments: Vec<OsString> = std::iter::once("preopen-mcp".into())
        .chain(arguments)
        .collect();
    let matches = match command().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            return Ok(Invocation::Print(error.render().to_string()));
        }
        Err(error) => return Err(UsageError::of(&error, &arguments)),
    };
    match matches.subcommand() {
        Some(("workspace", matches)) => serve(matches, Toolset::Workspace),
        Some(("demo", _)) => Ok(Invocation::Demo),
        Some(("guest", _)) => Ok(Invocation::Guest),
        Some(("check", matches)) => Ok(Invocation::Check {
            options: Box::new(options(matches, Toolset::Core)?),
            paths: paths(matches)?,
        }),
        _ => serve(&matches, Toolset::Core),
    }
}

fn serve(matches: &ArgMatches, toolset: Toolset) -> Result<Invocation, UsageError> {
    let mut options = options(matches, toolset)?;
    if options.root.as_os_str().is_empty() {
        options.root = here()?;
    }
    Ok(Invocation::Serve {
        options: Box::new(options),
        component: matches.get_one("component").cloned(),
        audit: matches.get_one("audit").cloned(),
        lockdown: match choice(matches, "lockdown") {
            Some("required") => Lockdown::Required,
            Some("off") => Lockdown::Off,
            _ => Lockdown::Auto,
        },
        verbose: matches.get_count("verbose"),
    })
}

/// The working directory, for a server that was not told which one to serve.
/// Clients start servers wherever they are; what nobody can have meant to hand
/// to a model must be named.
fn here() -> Result<PathBuf, UsageError> {
    let refused = |what: &str| {
        UsageError(format!(
            "--root (-d) DIR is missing, and the working directory is {what}: name the directory to serve"
        ))
    };
    let here = std::env::current_dir().map_err(|_| refused("not there any more"))?;
    if here.parent().is_none() {
        return Err(refused("the root of the file system"));
    }
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if home.is_some() && here.canonicalize().ok() == home {
        return Err(refused("the home directory"));
    }
    Ok(here)
}

fn command() -> Command {
    Command::new("preopen-mcp")
        .version(env!("CARGO_PKG_VERSION"))
        .about("An MCP server for the files of one directory, confined to it by construction.")
        .override_usage("preopen-mcp --root DIR --include GLOB [OPTIONS]\n       preopen-mcp workspace [-d DIR] [OPTIONS]\n       preopen-mcp check --root DIR --include GLOB PATH...\n       preopen-mcp demo\n       preopen-mcp guest > preopen-guest.wasm")
        .disable_help_subcommand(true)
        .args_conflicts_with_subcommands(true)
        .args(flags())
        .subcommand(
            Command::new("workspace")
                .about("Serves a directory to a desktop client: the toolset workspace, everything included")
                .override_usage("preopen-mcp workspace [-d DIR] [OPTIONS]")
                .args(flags()),
        )
        .subcommand(
            Command::new("check")
                .about("Says for each path whether it is served, by which rule, and what lies there")
                .long_about("Says for each path whether it is served, by which rule, and what lies there. No link is followed and no file of the root opened. It takes every flag of the server and ends with status 0, whatever it finds.")
                .override_usage("preopen-mcp check --root DIR --include GLOB [OPTIONS] PATH...")
                .args(flags())
                .arg(
                    Arg::new("path")
                        .value_name("PATH")
                        .num_args(1..)
                        .value_parser(ValueParser::os_string())
                        .help("A path relative to the root"),
                ),
        )
        .subcommand(
            Command::new("demo")
                .about("Shows a session with this very program, and what it refuses"),
        )
        .subcommand(Command::new("guest").about("Writes the portable component to stdout"))
}

/// The flags of a server. `check` takes them all, so that the command line of
/// one can be asked about as it stands.
fn flags() -> impl Iterator<Item = Arg> {
    let limits = Limits::TABLE.iter().map(|limit| {
        Arg::new(limit.flag)
            .long(limit.flag)
            .value_name("N")
            .value_parser(|text: &str| limit.parse(text))
            .help(format!(
                "Bound: {} [default: {}]",
                limit.about.trim(),
                limit.defaults()
            ))
    });
    [
        Arg::new("root")
            .long("root")
            .short('d')
            .value_name("DIR")
            .value_parser(ValueParser::path_buf())
            .help("The directory to serve; of `workspace`, by default the working directory"),
        Arg::new("toolset")
            .long("toolset")
            .value_name("SET")
            .value_parser(["core", "workspace", "all"])
            .help(format!(
                "{} [default: core, or workspace as the command says]",
                flags::TOOLSET
            )),
        Arg::new("protocol")
            .long("protocol")
            .value_name("ERA")
            .value_parser([PROTOCOL_VERSION, "legacy", "both"])
            .help(flags::PROTOCOL),
        Arg::new("include")
            .long("include")
            .value_name("GLOB")
            .action(ArgAction::Append)
            .help(flags::INCLUDE),
        Arg::new("exclude")
            .long("exclude")
            .value_name("GLOB")
            .action(ArgAction::Append)
            .help(flags::EXCLUDE),
        Arg::new("allow-blocked")
            .long("allow-blocked")
            .action(ArgAction::SetTrue)
            .help(flags::ALLOW_BLOCKED),
        Arg::new("read-only")
            .long("read-only")
            .action(ArgAction::SetTrue)
            .help(
                "Serve the reading tools alone, and open the directory without the right to write",
            ),
        Arg::new("tools")
            .long("tools")
            .value_name("NAME,...")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(flags::TOOLS),
        Arg::new("component")
            .long("component")
            .value_name("FILE")
            .value_parser(ValueParser::path_buf())
            .help("Serve the tools of this WebAssembly component instead; needs a build with the feature `compiler`"),
        Arg::new("write-mode")
            .long("write-mode")
            .value_name("MODE")
            .value_parser(["replace", "create-new"])
            .default_value("replace")
            .help(flags::WRITE_MODE),
        Arg::new("content-hash")
            .long("content-hash")
            .value_name("HASH")
            .value_parser(["sha256", "hmac-sha256"])
            .default_value("sha256")
            .help(flags::CONTENT_HASH),
        Arg::new("cursor-key-file")
            .long("cursor-key-file")
            .value_name("FILE")
            .value_parser(ValueParser::path_buf())
            .help("The key that signs cursors, for several processes that serve one root"),
        Arg::new("audit")
            .long("audit")
            .value_name("FILE")
            .value_parser(ValueParser::path_buf())
            .help("Append a line of JSON for every tool call to this file, outside the root"),
        Arg::new("lockdown")
            .long("lockdown")
            .value_name("MODE")
            .value_parser(["auto", "required", "off"])
            .default_value("auto")
            .help(
                "Give up the process's own rights: as far as the kernel can, or else do not start",
            ),
        Arg::new("verbose")
            .short('v')
            .long("verbose")
            .action(ArgAction::Count)
            .help("Write diagnostics to stderr; twice (-vv): also a line of every call"),
    ]
    .into_iter()
    .chain(limits)
}

/// What the flags ask for; `command` is the toolset of the command itself. A
/// root that was left out, where it may be, is empty.
fn options(matches: &ArgMatches, command: Toolset) -> Result<Options, UsageError> {
    let toolset = match choice(matches, "toolset") {
        Some("core") => Toolset::Core,
        Some("workspace") => Toolset::Workspace,
        Some("all") => Toolset::All,
        _ => command,
    };
    let root = match matches.get_one::<PathBuf>("root") {
        Some(root) if root.as_os_str().is_empty() => {
            return Err(UsageError("--root: the path is empty".to_owned()));
        }
        Some(root) => root.clone(),
        None if command == Toolset::Core => {
            return Err(UsageError(
                "--root DIR is missing: name the directory to serve".to_owned(),
            ));
        }
        None => PathBuf::new(),
    };
    let mut include = strings(matches, "include");
    if include.is_empty() {
        if toolset == Toolset::Core && command == Toolset::Core {
            return Err(UsageError(flags::NO_INCLUDE.to_owned()));
        }
        include.push(flags::EVERYTHING.to_owned());
    }
    let mut options = Options::new(root, include);
    options.toolset = toolset;
    if toolset != Toolset::Core {
        options.limits = Limits::workspace();
        options.protocol = Protocol::Both;
    }
    match choice(matches, "protocol") {
        Some("legacy") => options.protocol = Protocol::Legacy,
        Some("both") => options.protocol = Protocol::Both,
        Some(_) => options.protocol = Protocol::Modern,
        None => {}
    }
    options.allow_blocked = matches.get_flag("allow-blocked");
    options.exclude = strings(matches, "exclude");
    options.read_only = matches.get_flag("read-only");
    options.tools = strings(matches, "tools");
    if choice(matches, "write-mode") == Some("create-new") {
        options.write_mode = WriteMode::CreateNew;
    }
    if choice(matches, "content-hash") == Some("hmac-sha256") {
        options.content_hash = ContentHash::HmacSha256;
    }
    if let Some(file) = matches.get_one::<PathBuf>("cursor-key-file") {
        options.cursor_key = Some(key(file)?);
    }
    for limit in Limits::TABLE {
        if let (Some(value), Some(field)) = (
            matches.get_one::<u64>(limit.flag),
            options.limits.field(limit.flag),
        ) {
            *field = *value;
        }
    }
    Ok(options)
}

fn paths(matches: &ArgMatches) -> Result<Vec<OsString>, UsageError> {
    let paths = matches
        .get_many("path")
        .map(|paths| paths.cloned().collect());
    paths.ok_or_else(|| {
        UsageError("PATH is missing: name what to check, relative to the root".to_owned())
    })
}

fn choice<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.get_one::<String>(name).map(String::as_str)
}

fn strings(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches
        .get_many::<String>(name)
        .map(|values| values.cloned().collect())
        .unwrap_or_default()
}

fn key(file: &Path) -> Result<Vec<u8>, UsageError> {
    let refused = |why: &dyn Display| {
        UsageError(format!(
            "--cursor-key-file: cannot read {}: {why}",
            file.display()
        ))
    };
    // A pipe would keep the program waiting for somebody to write into it.
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(file)
        .map_err(|error| refused(&error))?;
    if !opened.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(refused(&"it is not a regular file"));
    }
    let mut key = Vec::new();
    opened
        .take(MAX_KEY_BYTES)
        .read_to_end(&mut key)
        .map_err(|error| refused(&error))?;
    Ok(key)
}
