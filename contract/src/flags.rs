//! What the command line says of the flags that both the native program and
//! the component have, whoever reads it. Limits have a table of their own:
//! [`Limits::TABLE`](crate::limits::Limits::TABLE).

/// `--include`.
pub const INCLUDE: &str = "Serve what this matches; may be given again";
/// `--exclude`.
pub const EXCLUDE: &str = "Hide what this matches all the same; may be given again";
/// `--toolset`; what it is without one is for whoever starts the server.
pub const TOOLSET: &str = "Which tools are served";
/// `--protocol`.
pub const PROTOCOL: &str = "Which clients are served: of revision 2026-07-28, of the earlier ones with their handshake, or both [default: 2026-07-28; workspace: both]";
/// `--tools`.
pub const TOOLS: &str = "Serve these tools alone";
/// `--allow-blocked`.
pub const ALLOW_BLOCKED: &str =
    "Serve also the names that workspaces block: programs, passwords and keys";
/// `--write-mode`.
pub const WRITE_MODE: &str = "What writing does to a file that exists: replace it, or refuse";
/// `--content-hash`.
pub const CONTENT_HASH: &str =
    "How contents are hashed; hmac-sha256 takes a secret of this process";

/// What is said where nothing is included.
pub const NO_INCLUDE: &str = "--include GLOB is missing: say what to serve, such as --include '**' (of a workspace, --toolset workspace)";

/// What a workspace includes unless it is told.
pub const EVERYTHING: &str = "**";

#[cfg(test)]
mod tests {
    use crate::session::PROTOCOL_VERSION;

    #[test]
    fn the_revision_is_the_one_that_is_spoken() {
        assert_eq!(super::PROTOCOL.matches(PROTOCOL_VERSION).count(), 2);
    }
}
