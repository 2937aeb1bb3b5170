//! How two things are compared on a machine that does other work as well: turn
//! by turn, so that what disturbs one disturbs the other, and by the median,
//! which a few disturbed turns do not move.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use criterion::Criterion;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::client::Peer;

/// Where the client and what is measured inside it run, and where the servers
/// and the programs. A round trip takes less than half the time when the system
/// happens to put both on one core, and where it puts them changes from run to
/// run; so it is laid down.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// Does `work` on one core of those this process began with (the last, if there
/// are fewer); a process that is started meanwhile stays there. May be nested.
pub(crate) fn on_core<T>(core: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    static ALL: OnceLock<CpuSet> = OnceLock::new();
    let before = sched_getaffinity(None)?;
    let all = ALL.get_or_init(|| before);
    let usable = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
    let mut one = CpuSet::new();
    one.set(usable.take(core + 1).last().context("a core to run on")?);
    sched_setaffinity(None, &one)?;
    let done = work();
    sched_setaffinity(None, &before)?;
    done
}

/// The middle value, in seconds.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or(f64::NAN, Duration::as_secs_f64)
}

/// Runs `work` and says how long it took.
pub(crate) fn time<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let start = Instant::now();
    let done = work()?;
    Ok((done, start.elapsed()))
}

/// How often something is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// So many turns at most, after one that does not count.
    pub(crate) most: usize,
    /// No further turn is begun after this time, if one has counted.
    pub(crate) within: Duration,
}

impl Turns {
    /// `most` turns, or as many as twelve seconds hold.
    pub(crate) const fn at_most(most: usize) -> Self {
        Self {
            most,
            within: Duration::from_secs(12),
        }
    }
}

/// The medians, in seconds, of turns of ours and of the baseline. Both do the
/// timing themselves; who goes first alternates.
pub(crate) fn interleaved(
    turns: Turns,
    mut ours: impl FnMut() -> Result<Duration>,
    mut baseline: impl FnMut() -> Result<Duration>,
) -> Result<(f64, f64)> {
    let (mut our_times, mut baseline_times) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for turn in 0..=turns.most {
        let (own, other) = if turn % 2 == 0 {
            let own = ours()?;
            (own, baseline()?)
        } else {
            let other = baseline()?;
            (ours()?, other)
        };
        if turn > 0 {
            our_times.push(own);
            baseline_times.push(other);
            if start.elapsed() > turns.within {
                break;
            }
        }
    }
    Ok((median(our_times), median(baseline_times)))
}

/// The medians of single round trips, in seconds: `request` to ours and to the
/// baseline in turn. criterion warms up, decides how many there are, and shows
/// how sure the mean of ours is; a median of single ones it does not know, so
/// that is taken here.
pub(crate) fn round_trips(
    criterion: &mut Criterion,
    name: &str,
    request: &[u8],
    ours: &mut Peer,
    baseline: &mut Peer,
) -> (f64, f64) {
    let (mut our_times, mut baseline_times) = (Vec::new(), Vec::new());
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|turns| {
            let mut total = Duration::ZERO;
            for _ in 0..turns {
                let time = ours.round_trip(request).expect("ours answers");
                total += time;
                our_times.push(time);
                baseline_times.push(baseline.round_trip(request).expect("the baseline answers"));
            }
            total
        });
    });
    (median(our_times), median(baseline_times))
}
