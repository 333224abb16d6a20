//! The suite for what limits calls.

mod played;
mod points;
mod policy;
mod subject;
mod suite;
mod trial;
mod trials;
mod work;

pub use played::{CallEnding, LimitedCall, PlayedLimit};
pub use policy::LimitPolicy;
pub use subject::{LimitFeature, LimitRefusal, LimitSubject, Limiter};
pub use suite::limit_suite;
pub use trial::{CallPlan, LimitTrial, WorkEnding};
pub use work::{Work, WorkError};
