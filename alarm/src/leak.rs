//! What a guest did past its world.

use std::fmt;

use crate::Place;

/// What the process has around it, and a world has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambient {
    /// The time of day.
    WallClock,
    /// A clock that only goes on.
    MonotonicClock,
    /// A clock of which a world has none, such as the time that the processor spent.
    OtherClock,
    /// The system's entropy.
    Entropy,
    /// A thread.
    Thread,
}

/// One call past the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// What was reached for.
    pub ambient: Ambient,
    /// The function of the C library.
    pub call: &'static str,
    /// Where the guest called it.
    pub place: Place,
}

/// The calls past the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaks {
    /// The first.
    pub first: Leak,
    /// How many there were.
    pub count: u64,
}

/// What was done, such as `read the wall clock (clock_gettime)`.
impl fmt::Display for Leak {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.ambient {
            Ambient::WallClock => "read the real wall clock",
            Ambient::MonotonicClock => "read the real monotonic clock",
            Ambient::OtherClock => "read a clock that no world has",
            Ambient::Entropy => "drew the system's entropy",
            Ambient::Thread => "started a thread",
        };
        write!(formatter, "{what} ({})", self.call)
    }
}
