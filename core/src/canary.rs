//! Canaries: faults of our own that a test puts in, to see that the suites catch them.
//!
//! Only with the feature `canary`, which nothing but tests asks for, can there be one; without it [`is_weakened`] is
//! `false` when it is compiled, and costs nothing. With it the code is still whole until a test says `weakened`.

/// A rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Weakness {
    /// A call makes one attempt more than its retries allow (E3).
    RetriesOneMore,
    /// Delays between attempts grow for ever (E4).
    DelayUncapped,
    /// Guards are not checked again once a reviewer has decided (E2).
    GuardsCheckedOnce,
    /// A run makes one call more than its limit (E7).
    CallsOneMore,
    /// Who came last has the lock first (E10).
    LockUnordered,
    /// One call more of a kind runs than its cap says (E10).
    CapOneMore,
    /// The ledger lacks the calls that failed (E12).
    LedgerLacksFailures,
    /// A program makes one call of a tool more than its limit (V6).
    ToolCallsOneMore,
    /// A result is given out though nobody acknowledged its commit (D3).
    AcknowledgmentPresumed,
    /// A worker that was overtaken may still commit.
    FenceIgnored,
    /// A recording is written as it came, and redacted only when it is finished.
    RedactedAfterWrite,
    /// An entry of a recording answers one call more than it did.
    EntryUsedAgain,
}

impl Weakness {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::RetriesOneMore,
        Self::DelayUncapped,
        Self::GuardsCheckedOnce,
        Self::CallsOneMore,
        Self::LockUnordered,
        Self::CapOneMore,
        Self::LedgerLacksFailures,
        Self::ToolCallsOneMore,
        Self::AcknowledgmentPresumed,
        Self::FenceIgnored,
        Self::RedactedAfterWrite,
        Self::EntryUsedAgain,
    ];
}

#[cfg(feature = "canary")]
mod armed {
    use std::cell::Cell;

    use super::Weakness;

    thread_local! {
        static WEAKNESS: Cell<Option<Weakness>> = const { Cell::new(None) };
    }

    /// Runs with one rule broken, on this thread.
    pub fn weakened<T>(weakness: Weakness, run: impl FnOnce() -> T) -> T {
        /// Mends it again, also when a panic passes.
        struct Mend(Option<Weakness>);
        impl Drop for Mend {
            fn drop(&mut self) {
                WEAKNESS.set(self.0);
            }
        }
        let _mend = Mend(WEAKNESS.replace(Some(weakness)));
        run()
    }

    /// What breaks the rules that are broken here, wherever it runs.
    pub fn carried<T>(run: impl FnOnce() -> T) -> impl FnOnce() -> T {
        let weakness = WEAKNESS.get();
        move || match weakness {
            Some(weakness) => weakened(weakness, run),
            None => run(),
        }
    }

    /// Whether this rule is broken here and now.
    pub fn is_weakened(weakness: Weakness) -> bool {
        WEAKNESS.get() == Some(weakness)
    }
}

#[cfg(feature = "canary")]
pub use armed::{carried, is_weakened, weakened};

/// What breaks the rules that are broken here, wherever it runs: the same as it is, without the feature `canary`.
#[cfg(not(feature = "canary"))]
pub const fn carried<T, F: FnOnce() -> T>(run: F) -> F {
    run
}

/// Whether this rule is broken here and now: never, without the feature `canary`.
#[cfg(not(feature = "canary"))]
pub const fn is_weakened(_weakness: Weakness) -> bool {
    false
}
