//! A root that is a disk of its own, which only the server sees, and what can
//! happen to a disk while it is served.

use std::process::Command;

use super::{Launch, Root, Server};

/// A server whose root is a small disk of its own.
pub(crate) struct Disk {
    root: std::path::PathBuf,
    process: u32,
}

impl Disk {
    /// A server of every tool whose root is a disk of 256 KiB that only it
    /// sees; says so where this process may not mount one.
    pub(crate) fn serve(root: &Root) -> Option<(Server, Self)> {
        const MOUNT: &str = r#"mount -t tmpfs -o size=256k none "$ROOT""#;
        let unshare = |script: &str| {
            let mut command = Command::new("unshare");
            command
                .args(["-m", "sh", "-c", script])
                .env("ROOT", root.path());
            command
        };
        let may = unshare(MOUNT).output();
        if !may.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: this process may not mount a filesystem");
            return None;
        }
        let script = format!(r#"{MOUNT} && exec "$0" "$@""#);
        let launch = Launch::under(unshare(&script), root);
        let mut server = launch.args(["--toolset", "all"]).start();
        // By its first answer it is no shell any more.
        server.alive();
        let disk = Self {
            root: root.path(),
            process: server.id(),
        };
        Some((server, disk))
    }

    /// Mounts it anew with these options (mount(8), `-o`).
    pub(crate) fn remount(&self, options: &str) {
        self.there(&["mount", "-o", &format!("remount,{options}")]);
    }

    /// Takes it away from under its name, in use as it is.
    pub(crate) fn unmount(&self) {
        self.there(&["umount", "--lazy"]);
    }

    /// Runs a command on it where the server is.
    fn there(&self, command: &[&str]) {
        let done = Command::new("nsenter")
            .args(["--target", &self.process.to_string(), "--mount", "--"])
            .args(command)
            .arg(&self.root)
            .status();
        assert!(done.is_ok_and(|status| status.success()), "{command:?}");
    }
}
