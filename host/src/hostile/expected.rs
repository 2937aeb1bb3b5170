//! What each attempt may achieve, and what stops it: the one table behind the
//! demo, the tests and the manual.

use super::Ending;
use crate::layer::Layer;

/// How an attempt has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// With these error names and no others.
    Refused(&'static str),
    /// With something that is of no use.
    Harmless,
    /// Out of handles or out of time, whichever comes first.
    Exhausted,
    /// Out of time.
    TimedOut,
    /// Out of memory.
    OutOfMemory,
    /// With the end of its instance.
    Trapped,
}

impl Ends {
    /// Whether an attempt ended so.
    #[must_use]
    pub fn matches(self, ending: &Ending) -> bool {
        match (self, ending) {
            (Self::Refused(expected), Ending::Refused(codes)) => expected == codes,
            (Self::Exhausted, Ending::Refused(codes)) => codes == "insufficient-memory",
            (Self::Harmless, Ending::Harmless(_))
            | (Self::Exhausted, Ending::TimedOut)
            | (Self::TimedOut, Ending::TimedOut)
            | (Self::OutOfMemory, Ending::OutOfMemory)
            | (Self::Trapped, Ending::Trapped) => true,
            _ => false,
        }
    }
}

/// A row: an attempt, how it has to end, and what stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The attempt's name.
    pub name: &'static str,
    /// How it has to end in a root that may be written to.
    pub ends: Ends,
    /// How it has to end in a root that is served read-only.
    pub ends_read_only: Ends,
    /// What stops it first.
    pub layer: Layer,
    /// Without which layers it would get something, all others in force: what
    /// stops it once they are gone, if anything, is not enough.
    pub needs: &'static [Layer],
    /// Whether it would reach outside the root if there were no layer at all.
    pub escapes: bool,
}

macro_rules! expected {
    (@escapes) => { false };
    (@escapes escapes) => { true };
    (@read_only $ends:expr) => { $ends };
    (@read_only $ends:expr, $other:expr) => { $other };
    ($($name:literal: $ends:ident $(($codes:literal))?
        $(or $other:ident $(($other_codes:literal))?)? by $layer:ident
        $(needs $($need:ident)+)? $(, $escapes:ident)?;)*) => {
        &[$(Expected {
            name: $name,
            ends: Ends::$ends $(($codes))?,
            ends_read_only: expected!(
                @read_only Ends::$ends $(($codes))? $(, Ends::$other $(($other_codes))?)?
            ),
            layer: Layer::$layer,
            needs: &[$($(Layer::$need),+)?],
            escapes: expected!(@escapes $($escapes)?),
        },)*]
    };
}

/// Every attempt, in the component's order: how it ends in a writable root, or
/// in one that is read-only where that differs, and what stops it.
pub const EXPECTED: &[Expected] = expected! {
    "absolute-path": Refused("not-permitted") by Capability, escapes;
    "parent-first": Refused("not-permitted") by Capability, escapes;
    "parent-inside": Refused("not-permitted") by Capability, escapes;
    "parent-last": Refused("not-permitted") by Capability, escapes;
    "parent-behind-nothing": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Capability;
    "parent-behind-a-file": Refused("not-permitted") by Capability;
    "parent-of-a-held-directory": Refused("not-permitted") by Capability, escapes;
    "parent-many-times": Refused("not-permitted") by Capability, escapes;
    "dot-segments": Refused("not-permitted") by Capability needs Capability, escapes;
    "doubled-slashes": Refused("not-permitted") by Capability needs Capability, escapes;
    "trailing-slash": Refused("not-permitted") by Capability needs Capability;
    "empty-path": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Capability;
    "encoded-parent": Refused("no-entry") by Policy;
    "another-preopen": Harmless by Capability;
    "link-to-a-file-inside": Refused("no-entry") by Policy needs Policy;
    "link-to-a-file-outside": Refused("no-entry") by Policy, escapes;
    "link-to-an-absolute-path": Refused("no-entry") by Policy, escapes;
    "link-to-a-directory-outside": Refused("no-entry, not-permitted") by Policy, escapes;
    "link-to-a-directory-inside": Refused("no-entry") by Policy needs Policy;
    "link-to-the-parent": Refused("no-entry, not-permitted") by Policy needs Policy, escapes;
    "link-in-a-chain": Refused("no-entry") by Policy, escapes;
    "link-in-a-loop": Refused("no-entry") by Policy;
    "link-to-nothing": Refused("exist, no-entry, unsupported") or Refused("no-entry, read-only, unsupported") by Policy;
    "link-of-proc": Refused("no-entry") by Policy;
    "link-with-a-slash-behind": Refused("not-permitted") by Policy;
    "read-where-a-link-leads": Refused("not-permitted") by Policy;
    "make-a-symbolic-link": Refused("no-entry, not-permitted") by Policy;
    "make-a-hard-link": Refused("no-entry, not-permitted") or Refused("no-entry, read-only") by Policy needs Policy, escapes;
    "put-a-link-in-a-directorys-place": Refused("no-entry, not-permitted") or Refused("no-entry, not-permitted, read-only") by Policy;
    "write-through-a-link": Refused("exist, no-entry, unsupported") or Refused("read-only, unsupported") by Policy needs Policy, escapes;
    "rename-a-link": Refused("no-entry, unsupported") or Refused("no-entry, read-only") by Policy, escapes;
    "unlink-a-links-target": Harmless or Refused("read-only") by Policy needs Policy;
    "named-pipe": Refused("exist, no-entry, unsupported") or Refused("no-entry, read-only, unsupported") by Policy needs Policy;
    "socket-file": Refused("exist, no-entry, unsupported") or Refused("no-entry, read-only, unsupported") by Policy needs Policy;
    "below-what-is-no-directory": Refused("no-entry, unsupported") or Refused("no-entry, read-only, unsupported") by Policy;
    "device": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Capability, escapes;
    "process-files": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Capability, escapes;
    "replace-a-pipe": Refused("no-entry, unsupported") or Refused("no-entry, read-only") by Policy needs Policy;
    "excluded-name": Refused("not-permitted") by Policy needs Policy;
    "excluded-directory": Refused("access, not-permitted") or Refused("access, not-permitted, read-only") by Policy needs Policy;
    "name-that-no-rule-includes": Refused("access, no-entry") by Policy needs Policy;
    "list-what-is-hidden": Harmless by Policy needs Policy;
    "other-case": Refused("access, no-entry") by Policy;
    "backslash": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Policy needs Capability;
    "drive-prefix": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Policy needs Capability;
    "nul-in-a-name": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Policy;
    "name-with-a-tail": Refused("access, no-entry") by Policy;
    "long-name": Refused("name-too-long, no-entry, not-permitted") by Policy;
    "long-path": Refused("no-entry, not-permitted") by Policy;
    "every-flag-on-a-file": Refused("exist, not-directory, unsupported") or Refused("not-directory, read-only, unsupported") by Policy;
    "every-flag-on-a-directory": Refused("access, not-permitted, unsupported") or Refused("access, not-permitted, read-only, unsupported") by Policy;
    "every-flag-on-what-is-not-served": Refused("access, exist, no-entry, not-permitted, unsupported") or Refused("access, no-entry, not-permitted, read-only, unsupported") by Policy needs Policy, escapes;
    "every-flag-on-a-missing-file": Refused("access, exist, no-entry, not-permitted, unsupported") or Refused("access, no-entry, not-permitted, read-only, unsupported") by Policy needs Policy, escapes;
    "flags-that-do-not-exist": Refused("no-entry, not-permitted, unsupported") by Policy needs Policy, escapes;
    "read-what-was-opened-to-write": Refused("bad-descriptor") or Refused("read-only") by Capability;
    "write-what-was-opened-to-read": Refused("bad-descriptor") by Capability;
    "truncate": Refused("unsupported") or Refused("read-only, unsupported") by Capability;
    "set-times": Refused("unsupported") or Refused("read-only, unsupported") by Capability;
    "streams-of-a-file": Refused("unsupported") or Refused("read-only, unsupported") by Capability;
    "change-through-a-reading-directory": Refused("bad-descriptor, read-only, unsupported") by Capability needs Capability;
    "widen-a-directory": Refused("read-only, unsupported") by Capability needs Capability;
    "file-as-a-directory": Refused("not-directory") or Refused("not-directory, read-only") by Capability;
    "directory-as-a-file": Refused("access, is-directory, not-permitted, unsupported") or Refused("access, is-directory, not-permitted, read-only, unsupported") by Capability;
    "write-beyond-every-offset": Refused("io") or Refused("read-only") by Capability;
    "advise-the-host": Refused("unsupported") by Capability;
    "write-what-is-hidden": Refused("not-permitted, unsupported") or Refused("read-only, unsupported") by Policy needs Policy;
    "write-what-no-rule-includes": Refused("access, unsupported") or Refused("read-only, unsupported") by Policy needs Policy;
    "write-outside": Refused("not-permitted, unsupported") or Refused("read-only, unsupported") by Capability, escapes;
    "append-to-what-is-not-served": Refused("access, not-permitted, unsupported") or Refused("read-only, unsupported") by Policy needs Policy;
    "remove-what-is-not-served": Refused("access, no-entry, not-permitted") or Refused("read-only") by Policy needs Policy, escapes;
    "remove-a-directory-that-is-not-served": Refused("access, not-permitted") or Refused("read-only") by Policy;
    "remove-a-directory-with-what-is-in-it": Refused("access, not-empty") or Refused("read-only") by Policy;
    "make-a-directory-where-none-may-be": Refused("exist, not-permitted") or Refused("read-only") by Policy needs Policy, escapes;
    "change-the-root-itself": Refused("not-permitted, unsupported") or Refused("read-only, unsupported") by Policy;
    "rename-what-is-served-out": Refused("not-permitted, unsupported") or Refused("read-only") by Policy needs Policy, escapes;
    "rename-what-is-outside-in": Refused("no-entry, not-permitted, unsupported") or Refused("no-entry, read-only") by Policy needs Policy, escapes;
    "rename-what-is-served": Refused("unsupported") or Refused("read-only") by Policy needs Policy;
    "rename-a-held-directory-and-walk-up": Refused("not-permitted, read-only, unsupported") or Refused("not-permitted, read-only") by Capability needs Policy, escapes;
    "walk-up-from-a-removed-directory": Refused("no-entry, not-permitted, unsupported") or Refused("read-only") by Capability, escapes;
    "leave-a-temporary": Harmless or Refused("read-only") by Policy;
    "leave-half-a-file": Harmless or Refused("read-only") by Policy;
    "find-a-temporary": Refused("exist, no-entry, not-permitted") or Refused("read-only") by Policy needs Policy;
    "temporary-of-a-hidden-directory": Refused("no-entry, not-permitted") or Refused("no-entry, read-only") by Policy needs Policy;
    "temporary-to-where-nothing-is-served": Refused("access, not-permitted") or Refused("read-only") by Policy needs Policy, escapes;
    "temporary-over-what-is-no-file": Refused("access, no-entry") or Refused("read-only") by Policy needs Policy;
    "temporary-where-nothing-is-served": Refused("no-entry, not-permitted, unsupported") or Refused("read-only, unsupported") by Policy needs Policy;
    "directory-named-like-a-temporary": Refused("not-permitted, unsupported") or Refused("not-permitted, read-only, unsupported") by Policy needs Policy;
    "almost-a-temporary": Refused("access, unsupported") or Refused("read-only, unsupported") by Policy needs Policy;
    "rename-a-temporary-that-is-not-there": Refused("no-entry, not-permitted") or Refused("read-only") by Policy;
    "environment": Harmless by Capability;
    "arguments": Harmless by Capability;
    "working-directory": Harmless by Capability;
    "terminals": Harmless by Capability;
    "read-standard-input": Harmless by Capability;
    "flood-standard-output": Harmless by Capability;
    "flood-standard-error": Harmless by Capability;
    "print": Harmless by Capability;
    "clocks": Harmless by Capability;
    "random-numbers": Harmless by Capability;
    "handle-after-its-end": Trapped by Capability;
    "handle-given-back-twice": Trapped by Capability;
    "handle-of-something-else-since": Harmless by Capability;
    "handle-guessed": Trapped by Capability;
    "handle-of-a-small-number": Trapped by Capability;
    "handle-of-a-large-number": Trapped by Capability;
    "handle-at-random": Trapped by Capability;
    "stream-as-a-descriptor": Trapped by Capability;
    "descriptor-as-an-input-stream": Trapped by Capability;
    "descriptor-as-an-output-stream": Trapped by Capability;
    "descriptor-as-a-listing": Trapped by Capability;
    "path-outside-of-memory": Trapped by Capability;
    "path-longer-than-memory": Trapped by Capability;
    "path-that-is-no-text": Trapped by Capability;
    "answer-outside-of-memory": Trapped by Capability;
    "answer-at-an-odd-place": Trapped by Capability;
    "files-until-refused": Exhausted by Bounds;
    "directories-until-refused": Exhausted by Bounds;
    "listings-until-refused": Exhausted by Bounds;
    "roots-without-end": Trapped by Bounds;
    "streams-without-end": Trapped by Bounds;
    "timers-without-end": Trapped by Bounds;
    "random-bytes-without-end": Trapped by Bounds;
    "poor-random-bytes-without-end": Trapped by Bounds;
    "zeroes-without-end": Trapped by Bounds;
    "write-more-than-agreed": Trapped by Bounds;
    "splice-without-end": Refused("closed") by Capability;
    "poll-nothing": Trapped by Bounds;
    "poll-one-thing-many-times": Trapped by Bounds;
    "read-nothing": Harmless by Bounds;
    "read-more-than-there-is": Refused("io") by Bounds;
    "memory-until-refused": Refused("no more memory") by Bounds;
    "memory-until-the-end": OutOfMemory by Bounds;
    "stack-of-calls": Trapped by Bounds;
    "stack-of-data": Trapped by Bounds;
    "endless-loop": TimedOut by Bounds;
    "endless-host-calls": TimedOut by Bounds;
    "endless-listing": TimedOut by Bounds;
    "endless-temporaries": TimedOut or Refused("read-only") by Bounds;
    "sleep-for-a-century": Trapped by Bounds;
    "poll-for-a-century": Trapped by Bounds;
    "exit-as-a-failure": Trapped by Bounds;
    "exit-as-a-success": Trapped by Bounds;
    "panic": Trapped by Bounds;
    "abort": Trapped by Bounds;
};
