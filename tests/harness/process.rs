//! The binary as a child process: its lines by a channel, its end by another,
//! so that every wait has a bound and none is a sleep. It knows no protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::PATIENCE;
use super::portable::Portable;

/// How a process ended, and what it had written that nobody took before.
#[derive(Debug)]
pub(crate) struct Exit {
    /// The exit status; none when a signal ended it.
    pub(crate) code: Option<i32>,
    /// The rest of stdout, line ends included.
    pub(crate) stdout: Vec<u8>,
    /// All of stderr.
    pub(crate) stderr: String,
}

/// A running binary. Dropped, it is killed.
pub(crate) struct Process {
    pid: u32,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    status: Receiver<ExitStatus>,
    ended: Option<ExitStatus>,
}

/// The binary under test, or the host of the component under test, with its
/// three streams as pipes.
pub(crate) fn binary() -> Command {
    crate::age();
    let program = match Portable::get() {
        None => env!("CARGO_BIN_EXE_preopen-mcp").into(),
        Some(portable) => portable.host,
    };
    piped(Command::new(program))
}

/// A command with its three streams as pipes.
pub(crate) fn piped(mut command: Command) -> Command {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Process {
    /// Starts `command`; streams that are no pipes read as empty.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the binary starts");
        let stdin = child.stdin.take();
        let (send, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || forward_lines(stdout, &send));
        }
        let (send, stderr) = channel();
        if let Some(mut pipe) = child.stderr.take() {
            thread::spawn(move || {
                let mut all = Vec::new();
                // What was read before an error is what there is to judge.
                let _ = pipe.read_to_end(&mut all);
                let _ = send.send(all);
            });
        }
        let pid = child.id();
        let (send, status) = channel();
        thread::spawn(move || {
            let _ = send.send(child.wait().expect("a child can be waited for"));
        });
        Self {
            pid,
            stdin,
            lines,
            stderr,
            status,
            ended: None,
        }
    }

    /// The most memory the process has held so far, in bytes; none where the
    /// system does not say.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// The memory it holds now, in bytes; none where the system does not say.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }

    /// The processor time it has used so far; none where the system does not say.
    pub(crate) fn work(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        // Behind the name, which may hold anything: the 14th and 15th field of all.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u64>().ok();
        // A hundredth of a second each, on every Linux.
        Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
    }

    /// Its number.
    pub(crate) const fn id(&self) -> u32 {
        self.pid
    }

    /// How many descriptors the process has open; none where the system does
    /// not say.
    pub(crate) fn descriptors(&self) -> Option<usize> {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid)).ok()?;
        Some(open.count())
    }

    /// How often its threads have been put on a processor so far; none where
    /// the system does not say.
    pub(crate) fn wakings(&self) -> Option<u64> {
        let mut wakings = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.pid)).ok()? {
            let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
            wakings += status
                .lines()
                .filter_map(|line| line.split_once("voluntary_ctxt_switches:"))
                .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
                .sum::<u64>();
        }
        Some(wakings)
    }

    /// Writes bytes as they are; a process that is gone fails the test.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).expect("the server reads its input");
    }

    /// Writes bytes as they are, where the process may be gone.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes)?;
        stdin.flush()
    }

    /// Closes stdin, and hands it over where someone else goes on writing.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The next line with its end; none at the end of stdout.
    pub(crate) fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line from the server in {PATIENCE:?}"),
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.rustix_pid(), signal).expect("the process is there");
    }

    /// Waits for the end, stdin as it is.
    pub(crate) fn wait(&mut self) -> Exit {
        let status = *self.ended.get_or_insert_with(|| {
            self.status
                .recv_timeout(PATIENCE)
                .expect("the process ends in time")
        });
        let mut stdout = Vec::new();
        while let Some(line) = self.line() {
            stdout.extend(line);
        }
        let stderr = self.stderr.recv_timeout(PATIENCE).unwrap_or_default();
        Exit {
            code: status.code(),
            stdout,
            stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
        }
    }

    fn rustix_pid(&self) -> Pid {
        Pid::from_raw(self.pid.try_into().expect("a process id")).expect("not zero")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_none() && self.status.try_recv().is_err() {
            let _ = kill_process(self.rustix_pid(), Signal::KILL);
        }
    }
}

fn forward_lines(stdout: impl Read, lines: &Sender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(1..) if lines.send(line).is_ok() => {}
            _ => break,
        }
    }
}

/// Runs the binary to its end with nothing on stdin.
pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Exit {
    run_from(Path::new("."), arguments)
}

/// As [`run`], with a working directory.
pub(crate) fn run_from<A: AsRef<std::ffi::OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Exit {
    let mut command = binary();
    command
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null());
    Process::spawn(command).wait()
}
