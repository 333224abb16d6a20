//! Cases of kind `agent`: a durable tool loop, whose workers crash at named points.

mod approvals;
mod arrangement;
mod blueprint;
mod build;
mod crashes;
mod definition;
mod effects;
mod expectation;
mod hosted;
mod hosts;
mod life;
mod model;
mod observed;
mod outcome;
mod planned_reviews;
mod play;
mod process;
mod scene;
mod signal;
mod store;
mod tools;
mod wire;

pub use approvals::ReviewDelivery;
pub(super) use build::build;
pub use crashes::{Crash, CrashPoint};
pub use effects::Effect;
pub use outcome::{ActivationSummary, AgentEnding, AgentOutcome};
