//! A campaign found a failure, or tested nothing.

use std::fmt;
use std::ops::Range;

use super::{CampaignReport, Failure, RecipeError, SweepReport};
use crate::AssertionKind;

/// A campaign found a failure, or tested nothing. Its debug form is its story too, so that `unwrap` in a test tells it.
#[derive(thiserror::Error)]
pub enum ExploreError {
    /// A run failed.
    #[error(transparent)]
    Failed(Box<Failure>),
    /// A sweep found failures.
    #[error("{0}")]
    Swept(Box<SweepReport>),
    /// One name is asserted in two ways, in different runs.
    #[error(
        "the assertion {assertion:?} is of two kinds in different runs, {} and {}: give each a name of its own",
        kinds[0].name(), kinds[1].name()
    )]
    AmbiguousAssertion {
        /// Its name.
        assertion: String,
        /// The two kinds.
        kinds: [AssertionKind; 2],
    },
    /// Something was never seen that must be.
    #[error("{}\n{report}", unseen(.assertions))]
    Unseen {
        /// What was never seen, or never evaluated.
        assertions: Vec<String>,
        /// What there was.
        report: Box<CampaignReport>,
    },
    /// Faults were asked for, and none came in any run.
    #[error("not one fault came in {} runs: they test nothing of it\n{report}", report.seeds)]
    NoFaultDelivered {
        /// What there was.
        report: Box<CampaignReport>,
    },
    /// There is no seed in the range.
    #[error("there are no seeds in {}..{}", .seeds.start, .seeds.end)]
    NoSeeds {
        /// The range.
        seeds: Range<u64>,
    },
    /// The environment variable does not name a seed.
    #[error("WINDTUNNEL_SEED is {value:?}; set it to a whole number, or not at all")]
    InvalidSeed {
        /// What it says.
        value: String,
    },
    /// The environment variable holds no recipe.
    #[error("WINDTUNNEL_REPEAT cannot be repeated; set it to what a failure says, or not at all: {0}")]
    InvalidRecipe(#[source] RecipeError),
}

fn unseen(assertions: &[String]) -> String {
    format!("never seen in any run: {}", assertions.join(", "))
}

impl fmt::Debug for ExploreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
