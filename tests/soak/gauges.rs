//! What a server that runs for long may not use more and more of: memory,
//! descriptors, processor time for a call, time until an answer.

use std::time::Duration;

use crate::harness::Server;

/// What resident memory may grow by after the warm-up, in bytes. A million calls made it grow by
/// 0.7 MiB, more and more slowly: that is the allocator, which by the end of the warm-up has seen most
/// of the greatest answers and not all; a debug build, whose warm-up is short, by 2 MiB. A leak of 64
/// bytes a call would be 63 MB, and one of 5 bytes is above this.
const MEMORY: u64 = 4 << 20;

/// How much more processor time a call may take at the end than at the beginning. Other load moves
/// it by a fifth; what is walked or looked through ever longer, as calls go on, is far above.
const PROCESSOR: f64 = 1.5;

/// The same for the time until an answer, which also waits for what else the machine does.
const LATENCY: f64 = 4.0;

/// How often it is looked whether descriptors are closed.
const LOOKS: usize = 50;

/// What was seen at one moment, when no call was under way.
#[derive(Clone, Debug)]
struct Sample {
    calls: usize,
    memory: u64,
    processor: Duration,
    /// Round trips of a call that is always the same, since the sample before.
    probes: Vec<Duration>,
}

/// All that was seen.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    samples: Vec<Sample>,
    probes: Vec<Duration>,
    descriptors: Option<usize>,
}

impl Gauges {
    /// Notes how long the call took that is always the same.
    pub(super) fn probed(&mut self, took: Duration) {
        self.probes.push(took);
    }

    /// Notes what the server uses after so many calls. None is under way, and it keeps the same as
    /// at every other time. Fails if it has more descriptors open than the first time.
    pub(super) fn sample(&mut self, server: &mut Server, calls: usize) {
        let probes = std::mem::take(&mut self.probes);
        let (Some(memory), Some(processor), Some(descriptors)) =
            (server.memory(), server.work(), self.least(server))
        else {
            return;
        };
        let first = *self.descriptors.get_or_insert(descriptors);
        assert!(
            descriptors <= first,
            "{descriptors} descriptors after {calls} calls, {first} before"
        );
        self.samples.push(Sample {
            calls,
            memory,
            processor,
            probes,
        });
    }

    /// How many descriptors the server has open. What a call had open may be closed just after it
    /// was answered, so this looks again.
    fn least(&self, server: &mut Server) -> Option<usize> {
        let mut least = server.descriptors()?;
        for _ in 0..LOOKS {
            if self.descriptors.is_some_and(|first| least <= first) {
                break;
            }
            server.alive();
            least = least.min(server.descriptors()?);
        }
        Some(least)
    }

    /// Fails if memory grew.
    pub(super) fn check_memory(&self) {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            eprintln!("SKIPPED: this system does not say what a process uses");
            return;
        };
        let grown = last.memory.saturating_sub(first.memory);
        let course: Vec<(usize, u64)> = self
            .samples
            .iter()
            .map(|at| (at.calls, at.memory))
            .collect();
        assert!(grown < MEMORY, "{grown} bytes more: {course:?}");
    }

    /// Fails if calls became slower: the last tenth of the samples is compared with the second.
    pub(super) fn check_drift(&self) {
        let tenth = self.samples.len() / 10;
        if tenth == 0 {
            eprintln!("SKIPPED: too few samples to compare");
            return;
        }
        let early = &self.samples[tenth..=2 * tenth];
        let late = &self.samples[self.samples.len() - tenth - 1..];
        let (before, after) = (per_call(early), per_call(late));
        eprintln!("processor time of a call: {before:?}, at the end {after:?}");
        assert!(
            after.as_secs_f64() < before.as_secs_f64() * PROCESSOR,
            "{before:?} {after:?}"
        );
        let (before, after) = (median(early), median(late));
        eprintln!("median round trip of a probe: {before:?}, at the end {after:?}");
        assert!(
            after.as_secs_f64() < before.as_secs_f64() * LATENCY,
            "{before:?} {after:?}"
        );
    }

    /// Shows the course of it.
    pub(super) fn report(&self) {
        for Sample {
            calls,
            memory,
            processor,
            probes,
        } in &self.samples
        {
            eprintln!(
                "{calls:>9} calls  {:>6} KiB  {processor:?}  {} probes",
                memory >> 10,
                probes.len()
            );
        }
        eprintln!("descriptors: {:?}", self.descriptors);
    }
}

/// The processor time of a call between the first and the last of these.
fn per_call(samples: &[Sample]) -> Duration {
    let (first, last) = (&samples[0], &samples[samples.len() - 1]);
    let calls = u32::try_from(last.calls - first.calls).expect("a number of calls");
    (last.processor - first.processor) / calls.max(1)
}

/// The median of the round trips behind the first of these.
fn median(samples: &[Sample]) -> Duration {
    let mut probes: Vec<Duration> = samples[1..]
        .iter()
        .flat_map(|sample| sample.probes.iter().copied())
        .collect();
    probes.sort_unstable();
    probes.get(probes.len() / 2).copied().unwrap_or_default()
}
