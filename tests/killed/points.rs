//! The named points at which a worker can be killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a worker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    BeforeCall,
    AfterEffect,
    BeforeCommit,
    AfterCommit,
    BeforeCheckpoint,
    AfterCheckpoint,
}

impl Point {
    pub(crate) const ALL: [Self; 6] = [
        Self::BeforeCall,
        Self::AfterEffect,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::BeforeCheckpoint,
        Self::AfterCheckpoint,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BeforeCall => "before-call",
            Self::AfterEffect => "after-effect",
            Self::BeforeCommit => "before-commit",
            Self::AfterCommit => "after-commit-before-acknowledgment",
            Self::BeforeCheckpoint => "before-checkpoint",
            Self::AfterCheckpoint => "after-checkpoint-before-acknowledgment",
        }
    }
}

/// Stops the process the nth time that it comes to a point, and says so, for its parent to kill it there.
#[derive(Clone)]
pub(crate) struct Stops {
    at: Option<(Point, u32)>,
    passed: Arc<AtomicU32>,
}

impl Stops {
    /// `name` and `nth`, from 1; nowhere, if the name is no point's.
    pub(crate) fn new(name: &str, nth: &str) -> Self {
        let point = Point::ALL.into_iter().find(|point| point.name() == name);
        Self { at: point.map(|point| (point, nth.parse().unwrap())), passed: Arc::default() }
    }

    pub(crate) fn pass(&self, here: Point) {
        let Some((_, nth)) = self.at.filter(|(point, _)| *point == here) else { return };
        if self.passed.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            println!("stopped");
            loop {
                std::thread::park();
            }
        }
    }
}
