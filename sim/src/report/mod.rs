//! Reports for a browser: runs on a timeline, and what many runs add up to, in one HTML file that needs nothing else.
//!
//! A failing [`Campaign`](crate::Campaign) writes one by itself into the folder that the environment variable
//! `WINDTUNNEL_REPORT` names, and its message names the file; the command writes one where `--report FILE` asks for it.
//! In code a [`Report`] is made of runs and campaigns, and [saved](Report::save). The same runs give the same bytes.

mod campaign;
#[cfg(feature = "case")]
mod case;
mod distribution;
mod document;
mod escape;
mod explored;
mod page;
mod rows;
mod run;

pub use campaign::{AssertionRow, CaseRow, Count, CoverageCell, Fact, ReportedCampaign, SlowRun};
pub use distribution::{Distribution, Unit};
pub use document::Report;
pub use run::{ReportedFailure, ReportedRun, Snippet};
