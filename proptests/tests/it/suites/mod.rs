//! The conformance suites, against systems that keep them and against deliberate mistakes.

mod limit;
mod retry;
