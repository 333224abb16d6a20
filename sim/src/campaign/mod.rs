//! Many runs of one scenario: over seeds, or with each fault at each event; and a failure made small.

mod builder;
mod coverage;
mod determinism;
mod error;
mod explore;
mod failure;
mod macros;
mod only;
mod parallel;
mod play;
mod ran;
mod recipe;
mod report;
mod reporting;
mod shrink;
mod sweep;
mod watch;

pub use builder::Campaign;
pub use coverage::{Coverage, PairCoverage, Skipped, SweepPoint};
pub use determinism::DeterminismError;
pub use error::ExploreError;
pub use explore::{explore, explore_in};
pub use failure::{Failure, Minimal};
pub(crate) use play::Play;
pub use recipe::{Recipe, RecipeError};
pub use report::CampaignReport;
pub use shrink::minimize;
pub use sweep::SweepReport;
pub use watch::Watched;
