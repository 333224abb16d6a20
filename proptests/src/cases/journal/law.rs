//! What a store of journals guarantees.

/// A law of [`JournalStore`](windtunnel_core::durable::JournalStore), which cases can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreLaw {
    /// What is acknowledged is read back, in its order, also when the store was opened again.
    Order,
    /// An attempt that was overtaken commits nothing, and neither does one that nobody has.
    Fences,
    /// What is repeated is acknowledged again and changes nothing; another content is refused.
    Repeats,
    /// An activation has one decision, and nothing comes after it.
    OneDecision,
    /// What is claimed is not claimed again before its lease is over, was given up or extended.
    Leases,
    /// An event is kept until it is waited for, and comes once.
    Events,
    /// What is over a bound is refused whole.
    Bounds,
    /// What was stored survives that the store is opened again.
    Reopening,
}

impl StoreLaw {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Order,
        Self::Fences,
        Self::Repeats,
        Self::OneDecision,
        Self::Leases,
        Self::Events,
        Self::Bounds,
        Self::Reopening,
    ];
}
