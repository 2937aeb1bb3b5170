//! In which order calls run. Calls that only read run side by side; one that
//! changes something waits for the earlier ones and holds back the later ones,
//! so what was written is seen by every read that was sent after it. Some may
//! take long, and beside those there is room for short ones. It knows neither
//! threads nor what a call does.

use std::collections::{HashMap, VecDeque};

use preopen_contract::session::Call;

use crate::sandbox::Control;

/// Calls that there is room for beside those that may take long.
pub(crate) const BESIDE: usize = 1;

/// Calls that wait at most; past that the client is not read from.
const MAX_CALLS: usize = 4096;

/// Bytes that calls hold which wait or run, those with little to hold and the
/// others counted apart; from there on none is taken. The call that gets there
/// is taken whole, however long it is.
const MAX_BYTES: usize = 16 << 20;

/// Bytes from which on a call holds much.
pub(super) const MUCH: usize = 64 << 10;

/// A call that waits for its turn.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call: Call,
    /// Whether it may change something.
    pub(super) changes: bool,
}

impl Job {
    pub(super) fn serial(&self) -> u64 {
        self.call.ticket.serial()
    }
}

/// How a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As long as a call may.
    Lasting,
    /// Beside as many lasting calls as there may be: if it turns out to take
    /// long, it is to be displaced and begins anew as one of them.
    Brief,
}

/// The calls of one connection, those that wait and those that run.
pub(super) struct Calls {
    /// How many run at a time, and how many of those may take long.
    places: usize,
    lasting: usize,
    /// Places that are taken by something else.
    lent: usize,
    queue: VecDeque<Job>,
    /// Calls that were displaced, in the order they came in: all before those
    /// in the queue.
    aside: VecDeque<Job>,
    held: Held,
    running: HashMap<u64, Running>,
    changing: bool,
}

struct Running {
    control: Control,
    pace: Pace,
    bytes: usize,
}

/// Bytes of the calls that wait and of those that run.
#[derive(Default)]
struct Held {
    little: usize,
    much: usize,
}

impl Held {
    fn of(&mut self, bytes: usize) -> &mut usize {
        match bytes < MUCH {
            true => &mut self.little,
            false => &mut self.much,
        }
    }

    fn take(&mut self, bytes: usize) {
        *self.of(bytes) += bytes;
    }

    fn drop(&mut self, bytes: usize) {
        *self.of(bytes) -= bytes;
    }
}

impl Calls {
    /// None yet, and so many at a time. The last of the places is for brief
    /// ones; where there is but one, it may be taken for long.
    pub(super) fn new(places: usize) -> Self {
        Self {
            places,
            lasting: places.saturating_sub(BESIDE).max(1),
            lent: 0,
            queue: VecDeque::new(),
            aside: VecDeque::new(),
            held: Held::default(),
            running: HashMap::new(),
            changing: false,
        }
    }

    /// Whether one of so many bytes may come to wait.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let held = match bytes < MUCH {
            true => self.held.little,
            false => self.held.much,
        };
        self.queue.len() + self.aside.len() < MAX_CALLS && held < MAX_BYTES
    }

    /// Puts one at the end of the line.
    pub(super) fn push(&mut self, job: Job) {
        self.held.take(job.call.bytes);
        self.queue.push_back(job);
    }

    /// How the next one may run, if it may: the displaced ones come first, but
    /// only where they need not be displaced again.
    pub(super) fn next_pace(&self) -> Option<Pace> {
        if self.changing || self.running.len() + self.lent >= self.places {
            return None;
        }
        let has_place = self.lasting_left() > 0;
        if has_place && !self.aside.is_empty() {
            return Some(Pace::Lasting);
        }
        let first = self.queue.front()?;
        if first.changes {
            let is_alone = self.running.is_empty() && self.aside.is_empty();
            return is_alone.then_some(Pace::Lasting);
        }
        Some(match has_place {
            true => Pace::Lasting,
            false => Pace::Brief,
        })
    }

    /// Places that are left for calls that may take long.
    fn lasting_left(&self) -> usize {
        let running = self.running.values();
        let lasting = running.filter(|call| call.pace == Pace::Lasting).count();
        self.lasting.saturating_sub(lasting)
    }

    /// Whether it is worth waking somebody for the next one, if `others` are
    /// about to run one each: it may run, and there is a processor for it.
    pub(super) fn want_another(&self, others: usize) -> bool {
        self.next_pace() == Some(Pace::Lasting) && self.lasting_left() > others
    }

    /// Takes out the next one that may run.
    pub(super) fn next(&mut self) -> Option<(Job, Pace)> {
        let pace = self.next_pace()?;
        let displaced = match pace {
            Pace::Lasting => self.aside.pop_front(),
            Pace::Brief => None,
        };
        Some((displaced.or_else(|| self.queue.pop_front())?, pace))
    }

    /// It runs from now on.
    pub(super) fn begin(&mut self, job: &Job, pace: Pace, control: Control) {
        self.changing = job.changes;
        let bytes = job.call.bytes;
        let running = Running {
            control,
            pace,
            bytes,
        };
        self.running.insert(job.serial(), running);
    }

    /// It no longer runs.
    pub(super) fn end(&mut self, serial: u64) {
        if let Some(running) = self.take_out(serial) {
            self.held.drop(running.bytes);
        }
    }

    /// It no longer runs and waits to begin anew.
    pub(super) fn put_aside(&mut self, job: Job) {
        self.take_out(job.serial());
        let at = self
            .aside
            .partition_point(|other| other.serial() < job.serial());
        self.aside.insert(at, job);
    }

    fn take_out(&mut self, serial: u64) -> Option<Running> {
        // Whatever ran just now, nothing that changes does any more: such a
        // call runs alone.
        self.changing = false;
        self.running.remove(&serial)
    }

    /// Takes a place for something that is no call, if another is left.
    pub(super) fn lend(&mut self) -> bool {
        let is_left = self.running.len() + self.lent + 1 < self.places;
        self.lent += usize::from(is_left);
        is_left
    }

    /// Gives that place back.
    pub(super) fn give_back(&mut self) {
        self.lent -= 1;
    }

    /// How to stop one that runs.
    pub(super) fn running(&self, serial: u64) -> Option<&Control> {
        self.running.get(&serial).map(|running| &running.control)
    }

    /// The same of all that run.
    pub(super) fn all_running(&self) -> impl Iterator<Item = &Control> {
        self.running.values().map(|running| &running.control)
    }

    /// Takes one out that waits.
    pub(super) fn withdraw(&mut self, serial: u64) -> Option<Job> {
        let find = |jobs: &mut VecDeque<Job>| {
            let at = jobs.iter().position(|job| job.serial() == serial)?;
            jobs.remove(at)
        };
        let job = find(&mut self.aside).or_else(|| find(&mut self.queue))?;
        self.held.drop(job.call.bytes);
        Some(job)
    }

    /// Takes out all that wait.
    pub(super) fn withdraw_all(&mut self) -> Vec<Job> {
        let jobs: Vec<Job> = self.aside.drain(..).chain(self.queue.drain(..)).collect();
        jobs.iter().for_each(|job| self.held.drop(job.call.bytes));
        jobs
    }

    /// Whether any waits.
    pub(super) fn waits(&self) -> bool {
        !self.queue.is_empty() || !self.aside.is_empty()
    }

    /// Whether there is none.
    pub(super) fn is_idle(&self) -> bool {
        !self.waits() && self.running.is_empty()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use preopen_contract::about;
    use preopen_contract::session::{Action, Protocol, Session};
    use serde_json::json;

    use super::{Calls, Job, Pace};
    use crate::sandbox::Control;

    /// So many calls that only read.
    pub(in crate::serve) fn jobs(count: u32) -> impl Iterator<Item = Job> {
        let session = Session::new(about::identity("0", true), Protocol::Legacy);
        (0..count).map(move |id| {
            let params = json!({"name": "tool", "arguments": {}});
            let call =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            match session.receive(call.to_string().as_bytes()) {
                Action::Call(call) => Job {
                    call,
                    changes: false,
                },
                other => panic!("no call: {other:?}"),
            }
        })
    }

    /// Calls of which so many are in line, and so many may run.
    fn in_line(count: u32, places: usize) -> Calls {
        let mut line = Calls::new(places);
        jobs(count).for_each(|job| line.push(job));
        line
    }

    /// Begins the next one.
    fn begin(calls: &mut Calls) -> Option<(u64, Pace)> {
        let (job, pace) = calls.next()?;
        calls.begin(&job, pace, Control::new(0, None));
        Some((job.serial(), pace))
    }

    /// Begins as many as may run.
    fn begin_all(calls: &mut Calls) -> Vec<Pace> {
        std::iter::from_fn(|| begin(calls))
            .map(|(_, pace)| pace)
            .collect()
    }

    #[test]
    fn as_many_run_as_there_are_places_and_the_last_is_for_a_brief_one() {
        for (places, expected) in [
            (1, &[Pace::Lasting][..]),
            (2, &[Pace::Lasting, Pace::Brief]),
            (3, &[Pace::Lasting, Pace::Lasting, Pace::Brief]),
        ] {
            assert_eq!(begin_all(&mut in_line(9, places)), expected);
        }
    }

    #[test]
    fn a_place_is_lent_only_if_one_is_left_for_a_call() {
        assert!(!in_line(0, 1).lend());
        let mut calls = in_line(9, 2);
        assert!(calls.lend());
        assert!(!calls.lend());
        let first = begin(&mut calls).expect("the place that is left");
        assert_eq!(begin(&mut calls), None);
        calls.give_back();
        assert!(!calls.lend());
        calls.end(first.0);
        assert!(calls.lend());
    }

    #[test]
    fn another_is_wanted_while_processors_are_left_beside_those_that_begin() {
        let mut calls = in_line(9, 3);
        assert!(calls.want_another(0) && calls.want_another(1) && !calls.want_another(2));
        begin(&mut calls);
        assert!(calls.want_another(0) && !calls.want_another(1));
        begin(&mut calls);
        assert!(!calls.want_another(0));
        assert_eq!(begin(&mut calls).map(|(_, pace)| pace), Some(Pace::Brief));
        assert!(!in_line(0, 3).want_another(0));
    }
}
