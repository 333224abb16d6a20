//! Assertions over what a run came to, in the Common Expression Language (CEL).

mod assertion;
mod cost;
mod deep_stack;
mod expression;
mod names;
mod variables;

pub(super) use assertion::{Assertion, judge};
pub use assertion::{AssertionOutcome, Offence};
pub(super) use expression::Expression;
