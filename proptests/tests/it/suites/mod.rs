//! The conformance suites, against systems that keep them and against deliberate mistakes.

mod checked;
mod distribution;
pub(crate) mod journal;
mod limit;
mod model;
mod published_table;
pub(crate) mod replay;
mod retry;
mod tools;
