//! Faults as data: plans, faults that are drawn, and who carries them out.
//!
//! A plan says what goes wrong at which event. Hosts, links and clocks are the world's own to act on; a tool, a model or a
//! journal takes faults if it is wrapped by [`Faults`].

mod action;
mod claim;
mod deed;
mod injector;
mod journal;
mod kind;
mod model;
mod pattern;
mod plan;
mod point;
mod random;
mod served;
mod survey;
mod tool;
mod undelivered;

pub use action::FaultAction;
pub use injector::DeliveredFault;
pub(crate) use injector::Injector;
pub use journal::FaultyJournal;
pub use kind::FaultKind;
pub use model::FaultyModel;
pub use pattern::EventPattern;
pub(crate) use pattern::Occurrences;
pub use plan::{Fault, FaultPlan, FaultPlanError};
pub use point::Faults;
pub use random::RandomFaults;
pub use served::{NotServed, ServedFaults};
pub(crate) use survey::FaultPoint;
pub use tool::FaultyTool;
pub use undelivered::{Undelivered, UndeliveredFault};
