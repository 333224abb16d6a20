//! Random cases. One concept a file; each says what share of its cases comes out how, and a test of this crate measures
//! it.
//!
//! ```
//! use proptest::prelude::*;
//! use windtunnel_proptests::strategies;
//!
//! proptest! {
//!     fn delays_are_finite(settings in strategies::backoff_settings(), attempt in strategies::attempt_numbers()) {
//!         let delay_s = windtunnel_proptests::models::delay_s(&settings, attempt, 0.0);
//!         prop_assert!(delay_s.is_finite());
//!     }
//! }
//! delays_are_finite();
//! ```

mod approval;
mod backoff;
mod batch;
mod call;
mod duration;
mod fault_plan;
mod journal;
mod json;
mod limits;
mod model_traffic;
mod policy;
mod program;
mod queue;
mod replay_session;
mod retry;
mod script;
mod secret;
mod tool_session;

pub use approval::{approval_scripts, approval_steps};
pub use backoff::{
    attempt_numbers, backoff_settings, exact_backoff_settings, extreme_backoff_settings, refused_backoff_settings,
    units,
};
pub use batch::batch_cases;
pub use call::{arguments_cases, call_cases, guard_cases};
pub use duration::durations;
pub use fault_plan::{event_patterns, fault_actions, fault_plans, refused_fault_plans};
pub use journal::{
    calm_worker_cases, replayed_worker_cases, store_operations, store_operations_about, worker_cases, workflow_cases,
};
pub use json::edge_json_values;
pub use limits::{call_limits, caps, limits};
pub use model_traffic::{model_failures, model_responses, model_traffic};
pub use policy::{policies, tool_policies};
pub use program::{
    failing_tools, json_values, lambda_programs, mutated_programs, mutations, program_cases, program_limits,
    program_policies, programs, programs_of_version_1, programs_of_version_2, retry_policies, sequential_program_cases,
    slow_tools, yielding_tools,
};
pub use queue::{queue_cases, staggered_queue_cases};
pub use replay_session::{ReplayScope, replay_asks, replay_sessions};
pub use retry::retry_cases;
pub use script::{endings, scripts, steps};
pub use secret::{known_secrets, told_secrets};
pub use tool_session::{returning_tool_sessions, tool_sessions};
