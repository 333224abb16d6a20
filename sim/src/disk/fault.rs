//! What is wrong with a disk.

/// What a disk does wrong until it is healed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    pub(crate) flushes: Flushes,
    /// The last write that is pending at a power cut is torn, once.
    pub(crate) is_tearing: bool,
    /// There is no room for anything new.
    pub(crate) is_full: bool,
    /// Everything fails.
    pub(crate) is_failing: bool,
}

/// What comes of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Flushes {
    #[default]
    Kept,
    NextLost,
    Lost,
}

impl Flushes {
    /// Whether this one makes anything durable.
    pub(super) fn next_is_kept(&mut self) -> bool {
        let is_kept = *self == Self::Kept;
        if *self == Self::NextLost {
            *self = Self::Kept;
        }
        is_kept
    }
}
