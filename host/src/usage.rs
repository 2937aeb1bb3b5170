//! What is wrong with a command line, in one line: the flag it is about, and
//! what may stand there instead. It reads clap's errors and shows none of them.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The commands there are beside serving.
const COMMANDS: [&str; 4] = ["workspace", "check", "demo", "guest"];

/// A command line that asks for nothing that can be done: one line that names
/// the flag.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl UsageError {
    /// Explains why clap refuses `arguments`.
    pub(crate) fn of(error: &Error, arguments: &[OsString]) -> Self {
        let about = |kind| text(error, kind);
        let flag = about(ContextKind::InvalidArg);
        Self(match error.kind() {
            ErrorKind::InvalidValue => {
                let choices = about(ContextKind::ValidValue);
                let value = about(ContextKind::InvalidValue);
                match (value.is_empty(), choices.is_empty()) {
                    (false, _) => format!("{}: `{value}` is not one of {choices}", name(&flag)),
                    (_, false) => format!("{}: a value is missing, one of {choices}", name(&flag)),
                    // clap writes `--flag <VALUE>`.
                    _ => format!("{}: the value is missing", flag.replace(['<', '>'], "")),
                }
            }
            ErrorKind::ValueValidation => {
                let why = error.source().map(ToString::to_string);
                format!("{}: {}", name(&flag), why.unwrap_or_default())
            }
            ErrorKind::TooManyValues => {
                let value = about(ContextKind::InvalidValue);
                format!("{}: it takes no value, and got `{value}`", name(&flag))
            }
            ErrorKind::UnknownArgument if flag.starts_with('-') => {
                format!("{flag}: there is no such flag (see --help)")
            }
            ErrorKind::UnknownArgument => format!("`{flag}`: not expected here (see --help)"),
            ErrorKind::InvalidSubcommand => no_command(&about(ContextKind::InvalidSubcommand)),
            ErrorKind::ArgumentConflict if flag.is_empty() => {
                let command = about(ContextKind::InvalidSubcommand);
                if COMMANDS.contains(&command.as_str()) {
                    format!("`{command}` comes first, before any flag")
                } else {
                    no_command(&command)
                }
            }
            ErrorKind::ArgumentConflict => format!("{}: it is given twice", name(&flag)),
            ErrorKind::InvalidUtf8 => not_utf8(arguments),
            _ => first_line(&error.render().to_string()),
        })
    }
}

fn no_command(argument: &str) -> String {
    format!(
        "`{argument}`: not a flag, and no command; commands are {} (see --help)",
        COMMANDS.join(", ")
    )
}

/// Which argument clap means it does not say.
fn not_utf8(arguments: &[OsString]) -> String {
    let shown = arguments
        .iter()
        .find(|argument| argument.to_str().is_none());
    let shown = shown.map(|argument| argument.to_string_lossy());
    format!(
        "`{}`: it is not UTF-8, which only a file's name may be",
        shown.unwrap_or_default()
    )
}

/// `--flag` of `--flag <VALUE>`.
fn name(flag: &str) -> &str {
    flag.split([' ', '=']).next().unwrap_or(flag)
}

fn text(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// What clap says that was not foreseen here.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    format!("{line} (see --help)")
}
