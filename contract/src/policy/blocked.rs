//! The names that a workspace does not serve unless its operator says so:
//! programs, passwords and keys. Letter case is ignored, and only whole names
//! and whole extensions count: `my_hosts_notes.md` is an ordinary file.

/// Names of files and directories, at any place of a path.
pub const BLOCKED_NAMES: &[&str] = &[
    "passwd",
    "shadow",
    "hosts",
    ".ssh",
    ".env",
    "id_rsa",
    "id_dsa",
    "private.key",
];

/// Extensions of files.
pub const BLOCKED_EXTENSIONS: &[&str] = &["exe", "bat", "cmd", "com", "scr", "dll", "so"];

/// The name or extension by which a workspace blocks `path`, unless its operator
/// allows it.
#[must_use]
pub fn blocked(path: &str) -> Option<&'static str> {
    file(path)
}

/// The blocked name that a directory of `path` has, or is below.
pub(super) fn directory(path: &str) -> Option<&'static str> {
    path.split('/').find_map(|name| find(BLOCKED_NAMES, name))
}

/// The blocked name, or extension with its dot, that the file `path` has, or the
/// blocked name of a directory it is in.
pub(super) fn file(path: &str) -> Option<&'static str> {
    directory(path).or_else(|| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (_, extension) = name.rsplit_once('.')?;
        find(BLOCKED_EXTENSIONS, extension)
    })
}

fn find(blocked: &'static [&'static str], name: &str) -> Option<&'static str> {
    let same = |other: &&&str| other.eq_ignore_ascii_case(name);
    blocked.iter().find(same).copied()
}

#[cfg(test)]
mod tests {
    use super::{directory, file};

    #[test]
    fn whole_names_and_extensions_are_blocked_in_any_case() {
        for path in [
            "a.exe",
            "a.EXE",
            "lib/x.tar.so",
            ".exe",
            "passwd",
            "etc/PassWd",
            ".ssh/config",
            "a/.ENV/b.txt",
            "id_rsa",
            "private.key",
            "hosts/a.txt",
        ] {
            assert!(file(path).is_some(), "{path}");
        }
        for path in [
            "exe",
            "a.exe.txt",
            "my_hosts_notes.md",
            "environment.envelope.md",
            ".env.local",
            "hosts.txt",
            "id_rsa.pub",
            "a.sock",
            "com/a.txt",
            "site.com/index.html",
        ] {
            assert!(file(path).is_none(), "{path}");
        }
        assert!(directory("a/.ssh").is_some() && directory("site.com").is_none());
    }
}
