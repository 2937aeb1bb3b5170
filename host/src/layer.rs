//! The layers of confinement by name, and whether each is in force. In every
//! build but that of this crate's own tests all of them always are: the answer
//! is a constant. It knows nothing of what a layer does.

use std::fmt;

/// What stops an attempt to get out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// There is no handle for it, or nothing behind the handle.
    Capability,
    /// The policy, and the rules of `confine`.
    Policy,
    /// The bounds of a call.
    Bounds,
    /// The kernel, for files: Landlock.
    Files,
    /// The kernel, for system calls: seccomp.
    Calls,
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Capability => "capability",
            Self::Policy => "policy",
            Self::Bounds => "bounds",
            Self::Files => "kernel, files",
            Self::Calls => "kernel, calls",
        })
    }
}

impl Layer {
    /// Whether it is in force.
    #[cfg(not(test))]
    pub(crate) const fn holds(self) -> bool {
        true
    }

    /// Whether it is in force on this thread.
    #[cfg(test)]
    pub(crate) fn holds(self) -> bool {
        AWAY.with(|away| !away.borrow().contains(&self))
    }
}

#[cfg(test)]
thread_local! {
    static AWAY: std::cell::RefCell<Vec<Layer>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Stands in every program that has the switch, and so in no other: a test
/// looks for it in the one that is released.
#[cfg(test)]
const SWITCH: &str = "this program can take its layers away";

/// Takes layers away from this thread, to see what the others stop.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn take_away(layers: &[Layer]) {
    std::hint::black_box(SWITCH);
    AWAY.with(|away| away.borrow_mut().extend(layers));
}

#[cfg(test)]
mod tests {
    use super::SWITCH;

    #[test]
    fn a_program_with_the_switch_says_so() {
        let program = std::fs::read(std::env::current_exe().expect("a path")).expect("a program");
        assert!(memchr::memmem::find(&program, SWITCH.as_bytes()).is_some());
    }
}
