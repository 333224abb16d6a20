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
//! | [`tool_provider_suite`] | [`ToolProviderSubject`]: a way to tools |
//! | [`model_transport_suite`] | [`ModelTransportSubject`]: a way to models |
//! | [`journal_store_suite`] | [`JournalStoreSubject`]: where journals are kept |
//! | [`replay_suite`] | [`ReplaySubject`]: what records and replays |
//!
//! Whoever implements [`ToolProvider`](windtunnel_core::evaluator::ToolProvider),
//! [`ModelTransport`](windtunnel_core::model::ModelTransport) or
//! [`JournalStore`](windtunnel_core::durable::JournalStore) has a subject in a line.

mod counterexample;
mod driver;
mod journal;
mod limit;
mod model;
mod point;
mod replay;
mod report;
mod retry;
mod settings;
mod suite;
mod table;
mod tools;
mod turns;

pub use counterexample::{Case, Counterexample};
pub use driver::{Stalled, drive};
pub use journal::{AtOnceCase, JournalStoreSubject, LostCase, LostRequest, StoreCase, journal_store_suite};
pub use limit::{
    CallEnding, CallPlan, LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, LimitTrial, LimitedCall, Limiter,
    PlayedLimit, Work, WorkEnding, WorkError, limit_suite,
};
pub use model::{ModelFeature, ModelService, ModelTransportSubject, model_transport_suite};
pub use point::Point;
pub use replay::{
    LiveService, RedactionCase, ReplayFeature, ReplayRest, ReplaySchedule, ReplaySetup, ReplaySubject, Replayed,
    replay_suite,
};
pub use report::{Finding, Judged, Report};
pub use retry::{
    Announcement, Answer, AnswerError, CallNote, ErrorClass, Operation, OperationError, Played, RetryBudget,
    RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject, RetryTrial, RunEnding, retry_suite,
};
pub use settings::{Settings, SettingsError};
pub use suite::Suite;
pub use table::markdown_table;
pub use tools::{ToolFeature, ToolProviderSubject, ToolService, tool_provider_suite};
