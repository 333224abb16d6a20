//! Property tests for what an agent's tool calls mean.
//!
//! Three layers, each usable without the others, for Windtunnel's executor and for your own:
//!
//! - [`cases`] say in plain data what is tried, and [`strategies`] make random ones.
//! - [`models`] predict what a correct executor does with a case. They are small, and share no code with the executor.
//! - [`invariants`] hold in every log of events, whatever the case was.
//!
//! [`played`] acts cases out as tools and reviewers of Windtunnel's executor, and as a provider of tools for programs.
//! [`CallTimeline`], [`SpanLog`] and [`LogCapture`] are what the invariants look at.
//!
//! For stores of journals there is [`check_journal_store`](played::check_journal_store), which puts a store of your own
//! through [`strategies::store_operations`]; for durable workflows [`strategies::worker_cases`], the [`EffectLog`] and its
//! invariants.
//!
//! For evaluators of programs there are [`ProgramCase`](cases::ProgramCase), [`strategies::programs`] and
//! [`ProgramPrediction`](models::ProgramPrediction).
//!
//! [`suites`] hold systems to what their kind should keep, whoever wrote them: write a small adapter, and each point is kept,
//! broken with the smallest counterexample, or not applicable. `RETRY-CRATES.md` and `LIMIT-CRATES.md` say what published
//! crates keep.
//!
//! [`worlds`] run whole systems: random operations with random faults, made small together, printed as a test and a case file.
//!
//! To test a retry loop of your own against a model, run it on a [`RetryCase`](cases::RetryCase), on a clock that a test can
//! move, and compare what it did with the prediction:
//!
//! ```
//! use proptest::prelude::*;
//! use windtunnel_proptests::cases::{Ending, RetryCase};
//! use windtunnel_proptests::models::{CallEnd, ObservedCall, RetryPrediction};
//! use windtunnel_proptests::strategies;
//!
//! /// A retry loop under test. It keeps its own time, and does not know of refusals.
//! fn run(case: &RetryCase) -> ObservedCall {
//!     let mut observed = ObservedCall { attempts: 0, delays_s: vec![], end: CallEnd::Failed, elapsed: Default::default() };
//!     loop {
//!         observed.attempts += 1;
//!         let step = case.script.step(observed.attempts);
//!         observed.elapsed += step.takes;
//!         if step.ending == Ending::Value {
//!             return ObservedCall { end: CallEnd::Value, ..observed };
//!         }
//!         if observed.attempts > case.retries {
//!             return observed;
//!         }
//!         // … and wait.
//!     }
//! }
//!
//! let mut runner = proptest::test_runner::TestRunner::deterministic();
//! let found = runner.run(&strategies::retry_cases(), |case| {
//!     RetryPrediction::of(&case).check(&run(&case))?;
//!     Ok(())
//! });
//! // It does not wait, has no time limit, and retries what would fail again.
//! assert!(found.is_err());
//! ```

pub mod cases;
mod effect;
pub mod invariants;
mod log_capture;
pub mod models;
pub mod played;
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a property that panics is broken, which is what its report says"
)]
pub mod properties;
mod span;
pub mod strategies;
pub mod suites;
mod timeline;
mod violation;
pub mod worlds;

pub use effect::{Effect, EffectLine, EffectLog};
pub use log_capture::{LogCapture, LogLine};
pub use span::{Span, SpanGuard, SpanLog};
pub use timeline::{AttemptBegan, CallTimeline, Moment, RetryAnnounced, TimelineEnd};
pub use violation::Violation;
