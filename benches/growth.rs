//! How cost grows: the time to follow a traversal to its end, over trees and
//! files that each are many times the size of the one before. It fits a line
//! through the last of them on logarithmic axes: its slope is 1 where the time
//! grows as the size does, and 2 where every page does all the work again.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{self, Peer};
use crate::corpus::{self, COMMON, TREE_PART};
use crate::measure::{CLIENT, on_core};
use crate::table::{Amount, Bound, Row};

/// The slope that still counts as growing linearly. Sorting alone adds a few
/// hundredths, and what no cache holds any longer is slower to look at.
const AT_MOST: f64 = 1.15;
/// A traversal that is not at its end by then is given up.
const LIMIT: Duration = Duration::from_secs(40);
/// A traversal is repeated until it took this long in all, but so often at most
/// and once at least, since the first finds nothing ready.
const ENOUGH: Duration = Duration::from_secs(3);
const TURNS: usize = 7;

/// What a size counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Files,
    Mebibytes,
}

impl Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "files",
            Self::Mebibytes => "MiB",
        })
    }
}

/// One traversal at every size.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    /// Sizes and seconds.
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether a size was left out because it took too long.
    cut: bool,
}

impl Series {
    /// The slope of the line through the last three points on logarithmic axes.
    pub(crate) fn exponent(&self) -> Option<f64> {
        let last = self.points.len().checked_sub(3)?;
        let points = self.points[last..]
            .iter()
            .map(|(size, time)| (size.ln(), time.ln()));
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 3.0;
        let middle = mean(&mut points.clone().map(|point| point.0));
        let height = mean(&mut points.clone().map(|point| point.1));
        let rise: f64 = points
            .clone()
            .map(|(x, y)| (x - middle) * (y - height))
            .sum();
        let run: f64 = points.map(|(x, _)| (x - middle).powi(2)).sum();
        Some(rise / run)
    }

    /// Its line of the table. A size that was given up is not kept to any bound.
    pub(crate) fn row(&self) -> Row {
        let join = |value: &dyn Fn(&(f64, f64)) -> String| {
            let values: Vec<String> = self.points.iter().map(value).collect();
            values.join(" → ")
        };
        let sizes = join(&|(size, _)| size.to_string());
        let times = join(&|(_, time)| Amount::Time(*time).to_string());
        let cut = if self.cut { " → given up" } else { "" };
        let work = format!(
            "{} of {sizes} {}, to the end: {times}{cut}; grows as",
            self.name, self.unit
        );
        let bound = Bound::AtMost(Amount::Exponent(AT_MOST));
        match self.exponent() {
            Some(exponent) if !self.cut => Row::alone(work, Amount::Exponent(exponent), bound),
            _ => Row::missing(work, bound),
        }
    }
}

/// The sizes that are measured.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// Files.
    pub(crate) files: Vec<usize>,
    /// Mebibytes.
    pub(crate) mebibytes: Vec<usize>,
}

impl Sizes {
    /// Those of the options `--files=N,…` and `--mib=N,…`, or else the whole range.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let list = |option: &str, default: &[usize]| -> Result<Vec<usize>> {
            let Some(list) = arguments
                .iter()
                .find_map(|argument| argument.strip_prefix(option))
            else {
                return Ok(default.to_vec());
            };
            let number = |text: &str| text.parse().with_context(|| format!("{option}{list}"));
            list.split(',').map(number).collect()
        };
        Ok(Self {
            files: list("--files=", &[1_000, 10_000, 100_000, 1_000_000])?,
            mebibytes: list("--mib=", &[1, 16, 256])?,
        })
    }
}

/// What is followed to its end, and what it is made of.
struct Traversal {
    name: &'static str,
    unit: Unit,
    /// The largest size; what is beyond it is left out.
    most: usize,
    tool: &'static str,
    arguments: fn() -> Value,
    /// Makes what has a size, in a directory that is empty, and says how many
    /// calls the traversal takes at least.
    build: fn(&Path, usize) -> io::Result<usize>,
}

const TRAVERSALS: [Traversal; 4] = [
    Traversal {
        name: "search_files, every path",
        unit: Unit::Files,
        most: usize::MAX,
        tool: "search_files",
        arguments: || json!({"query": TREE_PART}),
        build: |root, files| corpus::tree(root, files, 100).map(|()| files / 200),
    },
    Traversal {
        name: "list_directory",
        unit: Unit::Files,
        // Ten times as many take as long to make as the largest tree.
        most: 100_000,
        tool: "list_directory",
        arguments: || json!({"path": "directory-00000"}),
        build: |root, files| corpus::tree(root, files, files).map(|()| files / 200),
    },
    Traversal {
        name: "read_text_file",
        unit: Unit::Mebibytes,
        most: usize::MAX,
        tool: "read_text_file",
        arguments: || json!({"path": "text.txt"}),
        build: |root, mebibytes| {
            corpus::text(&root.join("text.txt"), mebibytes << 20)?;
            Ok(mebibytes << 6)
        },
    },
    Traversal {
        name: "search_text, two hits in 32 KiB",
        unit: Unit::Mebibytes,
        most: usize::MAX,
        tool: "search_text",
        arguments: || json!({"query": COMMON}),
        build: |root, mebibytes| Ok(corpus::texts(root, mebibytes << 20)? / 200),
    },
];

/// Measures every traversal; what is traversed lies below `place` meanwhile.
pub(crate) fn measure(place: &Path, sizes: &Sizes) -> Result<Vec<Series>> {
    // All of it stays until the end: the system is slow to make files where
    // others have just been removed.
    let mut roots = Vec::new();
    TRAVERSALS
        .iter()
        .map(|traversal| traversal.measure(place, sizes, &mut roots))
        .collect()
}

impl Traversal {
    fn measure(&self, place: &Path, sizes: &Sizes, roots: &mut Vec<TempDir>) -> Result<Series> {
        let sizes = match self.unit {
            Unit::Files => &sizes.files,
            Unit::Mebibytes => &sizes.mebibytes,
        };
        let mut series = Series {
            name: self.name,
            unit: self.unit,
            points: Vec::new(),
            cut: false,
        };
        for &size in sizes.iter().filter(|size| **size <= self.most) {
            let root = TempDir::new_in(place)?;
            let calls = (self.build)(root.path(), size)?;
            let time = self.time(root.path(), calls);
            roots.push(root);
            match time {
                Ok(seconds) => {
                    let unit = self.unit;
                    eprintln!("{}, {size} {unit}: {}", self.name, Amount::Time(seconds));
                    series.points.push((size as f64, seconds));
                }
                Err(error) => {
                    eprintln!("{}, {size} {}: {error:#}", self.name, self.unit);
                    series.cut = true;
                    break;
                }
            }
        }
        Ok(series)
    }

    /// The fastest of some turns, in seconds: there is no baseline here that is
    /// disturbed as much, and whatever disturbs a turn makes it longer.
    fn time(&self, root: &Path, at_least: usize) -> Result<f64> {
        let mut server = client::server(root);
        server.args(["--max-entries", "100000000"]);
        let mut ours = Peer::start_pinned(&mut server)?;
        let arguments = (self.arguments)();
        let mut times = Vec::new();
        while times.len() < 2 || (times.len() < TURNS && times.iter().sum::<Duration>() < ENOUGH) {
            let (calls, took) = on_core(CLIENT, || ours.follow(self.tool, &arguments, LIMIT))?;
            ensure!(calls >= at_least, "{} took {calls} calls", self.tool);
            times.push(took);
        }
        let fastest = times.iter().min().context("a turn")?;
        Ok(fastest.as_secs_f64())
    }
}
