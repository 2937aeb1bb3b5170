//! Each layer taken away alone: what still holds is held by the others. And
//! all of them taken away: what then gets out shows that the attempts are real.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};

use super::hostile;
use crate::hostile::{EXPECTED, Ending, Expected, MARKER, World};
use crate::layer::{Layer, take_away};
use crate::lockdown::{self, Threads};

/// The layers that can be taken away and leave something to test.
const LAYERS: [Layer; 4] = [Layer::Capability, Layer::Policy, Layer::Files, Layer::Calls];

/// How it shows that something outside the root was reached: what stands in the
/// files beside it and in /etc/passwd, and what the component says it opened.
const OUTSIDE: [&str; 4] = [
    MARKER,
    "root:x:0:0:",
    "read \"/dev/",
    "entered \"dir/../..\"",
];

/// What came of an attempt.
struct Result {
    ending: Ending,
    /// It got, or changed, what it must not.
    through: bool,
    /// It was something outside the root.
    outside: bool,
}

/// Makes one attempt in a world of its own, on a thread that gives up its
/// rights as the server does; all without the layers `away`.
fn attempt(row: &Expected, away: &[Layer]) -> Result {
    let world = World::new().unwrap();
    let root = world.root();
    let beside = || {
        let mut everything = world.everything().unwrap();
        everything.retain(|path, _| !path.starts_with(&root));
        everything
    };
    let (before, beside_before) = (world.untouchable().unwrap(), beside());
    let hostile = hostile(&world, false, row.ends);
    let run = || {
        confine(&root, away);
        take_away(away);
        hostile.run(row.name)
    };
    let ending = thread::scope(|scope| scope.spawn(run).join().unwrap());
    let told = ending.to_string();
    let outside = OUTSIDE.iter().any(|text| told.contains(text)) || beside() != beside_before;
    // What was removed cannot be looked at.
    let changed = world.untouchable().ok() != Some(before);
    Result {
        through: outside || changed || matches!(ending, Ending::Got(_)),
        outside,
        ending,
    }
}

/// Puts the kernel's layers around this thread. Where Landlock is away it
/// still keeps what is written in the attempt's world: an attempt must not harm
/// the machine it is made on, whatever else is away.
fn confine(root: &Path, away: &[Layer]) {
    if away.contains(&Layer::Files) {
        keep_writes_below(root.parent().unwrap());
    } else {
        let root = File::open(root).unwrap();
        assert!(lockdown::confine_files(root.as_fd(), true).unwrap());
    }
    if !away.contains(&Layer::Calls) {
        lockdown::confine_calls(Threads::This).unwrap();
    }
}

/// Landlock for the test's own safety: everything may be read, `world` changed.
fn keep_writes_below(world: &Path) {
    let rule = |path: &Path, rights| PathBeneath::new(PathFd::new(path).unwrap(), rights);
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V3))
        .unwrap()
        .create()
        .unwrap()
        .add_rule(rule(Path::new("/"), AccessFs::from_read(ABI::V3)))
        .unwrap()
        .add_rule(rule(world, AccessFs::from_all(ABI::V3)))
        .unwrap()
        .restrict_self()
        .unwrap();
    assert_eq!(status.ruleset, RulesetStatus::FullyEnforced);
}

/// Whether this kernel can keep attempts in their world.
pub(super) fn is_safe_here() -> bool {
    let safe = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V3))
        .is_ok();
    if !safe {
        eprintln!("SKIPPED: this kernel has no Landlock to keep the attempts in their world");
    }
    safe
}

/// Makes every attempt without `layer`: those that need it get through, and
/// no other does; and nothing at all comes from outside the root.
fn without(layer: Layer) {
    if !is_safe_here() {
        return;
    }
    for row in EXPECTED {
        let Result {
            ending,
            through,
            outside,
        } = attempt(row, &[layer]);
        let needed = row.needs.contains(&layer);
        assert_eq!(through, needed, "{} without {layer}: {ending}", row.name);
        assert!(!outside, "{} without {layer}: {ending}", row.name);
    }
}

#[test]
fn without_the_capability_layer() {
    without(Layer::Capability);
}

#[test]
fn without_the_policy_layer() {
    without(Layer::Policy);
}

#[test]
fn without_the_kernels_layer_for_files() {
    without(Layer::Files);
}

#[test]
fn without_the_kernels_layer_for_calls() {
    without(Layer::Calls);
}

#[test]
fn with_every_layer_every_attempt_ends_as_its_row_says() {
    if !is_safe_here() {
        return;
    }
    for row in EXPECTED {
        let Result {
            ending, through, ..
        } = attempt(row, &[]);
        assert!(row.ends.matches(&ending), "{}: {ending}", row.name);
        assert!(!through, "{}: {ending}", row.name);
    }
}

/// Once nothing is left, attempts reach outside: they are real, and it takes
/// two layers to go before any of them succeeds.
#[test]
fn without_any_layer_attempts_get_out() {
    if !is_safe_here() {
        return;
    }
    for row in EXPECTED {
        let Result {
            ending,
            through,
            outside,
        } = attempt(row, &LAYERS);
        assert_eq!(outside, row.escapes, "{}: {ending}", row.name);
        // Whatever gets through without one layer does so without all.
        assert!(through || row.needs.is_empty(), "{}: {ending}", row.name);
    }
}
