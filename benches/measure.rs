//! How two things are compared on a machine that does other work as well: turn
//! by turn, so that what disturbs one disturbs the other, and by the median,
//! which a few disturbed turns do not move.

use std::time::{Duration, Instant};

use anyhow::Result;
use criterion::Criterion;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::client::Peer;

/// Where the client of a round trip runs, and where the servers. A round trip
/// takes less than half the time when the system happens to put both on one
/// core, and where it puts them changes from run to run; so it is laid down.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// Does `work` on one core of those this thread may use (the last, if there are
/// fewer); a process that is started meanwhile stays there.
pub(crate) fn on_core<T>(core: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let all = sched_getaffinity(None)?;
    let usable = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
    let mut one = CpuSet::new();
    if let Some(core) = usable.take(core + 1).last() {
        one.set(core);
    }
    sched_setaffinity(None, &one)?;
    let done = work();
    sched_setaffinity(None, &all)?;
    done
}

/// The middle value, in seconds.
fn median(mut times: Vec<Duration>) -> f64 {
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

/// The medians of `rounds` turns each, in seconds, after one turn that does not
/// count. Both do the timing themselves; who goes first alternates.
pub(crate) fn interleaved(
    rounds: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut baseline: impl FnMut() -> Result<Duration>,
) -> Result<(f64, f64)> {
    let (mut our_times, mut baseline_times) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (own, other) = if round % 2 == 0 {
            let own = ours()?;
            (own, baseline()?)
        } else {
            let other = baseline()?;
            (ours()?, other)
        };
        if round > 0 {
            our_times.push(own);
            baseline_times.push(other);
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
