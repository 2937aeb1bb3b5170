//! A server under strace, which says what system calls it makes and can make
//! one of them take long.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::{Launch, Root};

/// Where strace writes.
pub(crate) struct Trace(PathBuf);

impl Trace {
    /// Sends the server a signal, which strace itself would keep to itself.
    /// Something must be in the trace already.
    pub(crate) fn signal(&self, signal: Signal) {
        let all = fs::read_to_string(&self.0).expect("a trace");
        let process = all.split(' ').next().and_then(|first| first.parse().ok());
        let process = process.and_then(Pid::from_raw).expect("its process");
        kill_process(process, signal).expect("the server is there");
    }

    /// What the server did once it had given up everything but the root: one
    /// system call a line, without the number of the thread.
    pub(crate) fn after_lockdown(&self) -> Vec<String> {
        let all = fs::read_to_string(&self.0).expect("a trace");
        let locked = all
            .rfind("seccomp(SECCOMP_SET_MODE_FILTER")
            .expect("the lockdown is in the trace");
        all[locked..]
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(' '))
            .map(|(_, call)| call.trim_start().to_owned())
            .collect()
    }
}

/// A server of this root that strace follows by these rules (strace(1), `-e`),
/// with its whole lockdown in force; says so where there is no strace.
pub(crate) fn traced(test: &str, root: &Root, rules: &[&str]) -> Option<(Launch, Trace)> {
    let path = root.above().join("trace");
    let strace = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-s", "512", "-o"]).arg(&path);
        for rule in rules {
            command.args(["-e", rule]);
        }
        command
    };
    let works = strace().arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED {test}: strace is not installed or may not trace");
        return None;
    }
    let launch = Launch::under(strace(), root).args(["--lockdown", "required"]);
    Some((launch, Trace(path)))
}
