//! Where the figures go besides the screen: into the place that
//! `docs/performance.md` keeps for them, with what somebody else needs to know
//! about the machine that they come from.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

/// Whether the run is to write its figures into the documents.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("PREOPEN_UPDATE_DOCS").is_some_and(|value| value == "1")
}

/// A file of the documents.
pub(crate) fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name)
}

/// Replaces what stands between the two comments that mark the figures' place.
pub(crate) fn update(text: &str) -> Result<()> {
    const BEGIN: &str = "<!-- cargo bench -->\n";
    const END: &str = "<!-- /cargo bench -->";
    let file = document("performance.md");
    let old = fs::read_to_string(&file)?;
    let (head, rest) = old.split_once(BEGIN).context("a place for the figures")?;
    let (_, tail) = rest.split_once(END).context("the end of that place")?;
    let text = text.trim_end();
    fs::write(&file, format!("{head}{BEGIN}\n{text}\n\n{END}{tail}"))?;
    Ok(())
}

/// The machine, the system, the date and the command, as one sentence. `place` is
/// where the corpus lies.
pub(crate) fn circumstances(command: &str, place: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kib| (kib + (1 << 19)) >> 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    format!(
        "{cores} cores ({processor}), {memory} GiB, Linux {}, {}, files in the page cache; {}; `{command}`",
        kernel.trim(),
        file_system(place),
        date.split('T').next().unwrap_or_default(),
    )
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The kind of the file system that `place` lies on.
fn file_system(place: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(point, _)| place.starts_with(point))
        .max_by_key(|(point, _)| point.len())
        .map_or_else(String::new, |(_, kind)| kind.to_owned())
}
