//! End to end, and the rules of the source tree.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod agents;
mod conformance;
mod first_test;
mod fuzzing;
mod guide;
mod journals;
mod readme;
mod refund;
mod tidy;
