//! A sweep that tells how far it has come.

use std::fmt;
use std::sync::Arc;

/// What a sweep tells while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// So many more runs are to be done.
    Planned {
        /// How many.
        runs: usize,
    },
    /// One of them came to its end.
    Ended {
        /// Whether it failed.
        has_failed: bool,
    },
}

/// Whoever watches a sweep.
#[derive(Clone, Default)]
pub(super) struct Watcher(Option<Arc<dyn Fn(Watched) + Send + Sync>>);

impl Watcher {
    pub(super) fn new(watch: impl Fn(Watched) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(super) fn tell(&self, watched: Watched) {
        if let Some(watch) = &self.0 {
            watch(watched);
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}
