//! What holds in every log: functions over events and plain data, for any executor that tells its steps in Windtunnel's
//! events. They return a [`Violation`](crate::Violation) that says what was seen.
//!
//! ```
//! use std::collections::BTreeMap;
//! use windtunnel_core::executor::{Executor, ToolCall};
//! use windtunnel_core::tool::Registry;
//! use windtunnel_proptests::cases::{Ending, Policies, Script, Step, ToolPolicy};
//! use windtunnel_proptests::invariants;
//! use windtunnel_proptests::played::PlayedTool;
//! use windtunnel_sim::World;
//!
//! let policy = ToolPolicy { retries: 2, ..ToolPolicy::default() };
//! let policies = Policies::from([("search".to_owned(), policy.clone())]);
//! let run = World::new(7).run(|world| async move {
//!     let mut registry = Registry::new();
//!     let script = Script::always(Step::at_once(Ending::ForeignError));
//!     registry.register(PlayedTool::new(policy.spec("search"), script)).unwrap();
//!     let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
//!     executor.run_call(ToolCall::new("search", serde_json::json!({}))).await
//! });
//! invariants::order(&run.trace)?;
//! invariants::calls_end_once(&run.trace)?;
//! invariants::attempts_within_retries(&run.trace, &policies)?;
//! # Ok::<(), windtunnel_proptests::Violation>(())
//! ```

mod approvals;
mod attempts;
mod concurrency;
mod guards;
mod journal;
mod ledger;
mod lifecycle;
mod order;
mod programs;
mod secrecy;
mod time;

pub use approvals::approvals_keep_their_ids;
pub use attempts::attempts_within_retries;
pub use concurrency::{caps_hold, exclusive_calls_run_alone};
pub use guards::guards_hold;
pub use journal::{
    AcknowledgedRecord, Repeats, acknowledged_operations_do_not_run_again, attempts_read_what_is_stored,
    commits_come_one_after_another, decisions_are_told_truly, history_grows, history_holds, history_is_sound,
    idempotency_keys_tell_operations_apart, overtaken_attempts_store_nothing, poisoned_attempts_stop,
    repeats_are_explained, results_wait_for_their_acknowledgment,
};
pub use ledger::one_entry_per_finished_call;
pub use lifecycle::{calls_end_once, nothing_follows_a_run, open_calls};
pub use order::order;
pub use programs::{attempts_keep_their_call, programs_finish_once};
pub use secrecy::{events_are_silent_about, logs_are_silent_about, text_is_silent_about};
pub use time::{lone_call_adds_up, waits_are_exact};
