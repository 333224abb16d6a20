//! What an animal is.

use windtunnel::BoxFuture;
use windtunnel::sim::WorldHandle;

/// A small agent with a known bug, and without it.
pub(crate) struct Animal {
    pub(crate) name: &'static str,
    /// A report of the bug where it was found, if it needs one.
    pub(crate) after: &'static str,
    pub(crate) breaks: Breaks,
    /// The agent in its world. Both twins are one code but for the bug.
    pub(crate) scenario: fn(WorldHandle, Twin) -> BoxFuture<'static, ()>,
}

/// Whether it has its bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twin {
    Faulty,
    Correct,
}

/// How the bug shows.
pub(crate) enum Breaks {
    /// This assertion does not hold.
    Rule(&'static str),
    /// Nothing goes on, and who waits for whom is said with these names.
    Deadlock(&'static [&'static str]),
}
