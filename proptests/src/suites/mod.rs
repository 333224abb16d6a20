//! Conformance suites for your own systems, each behind small traits.
//!
//! A [`Suite`] is a list of [`Point`]s, each of which demands one thing and looks at a subject from outside. Running one gives
//! a [`Report`]: whether each point is kept, broken, with the smallest counterexample, or not applicable, since the adapter
//! says that its subject has no such feature. [`markdown_table`] sets several reports side by side, and [`Settings`] say how
//! many cases are tried.
//!
//! | suite | subject |
//! | --- | --- |
//! | [`retry_suite`] | [`RetrySubject`]: what retries |
//! | [`limit_suite`] | [`LimitSubject`]: what limits calls |

mod counterexample;
mod limit;
mod point;
mod report;
mod retry;
mod settings;
mod suite;
mod table;

pub use counterexample::{Case, Counterexample};
pub use limit::{
    CallEnding, CallPlan, LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, LimitTrial, LimitedCall, Limiter,
    PlayedLimit, Work, WorkEnding, WorkError, limit_suite,
};
pub use point::Point;
pub use report::{Finding, Judged, Report};
pub use retry::{
    Announcement, Answer, AnswerError, CallNote, ErrorClass, Operation, OperationError, Played, RetryBudget,
    RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject, RetryTrial, RunEnding, retry_suite,
};
pub use settings::{Settings, SettingsError};
pub use suite::Suite;
pub use table::markdown_table;
