//! What Windtunnel's own executor, evaluator and journals are held to: each [`Property`] is random cases and a check, and
//! one list of them serves proptest, which makes what fails small, and a fuzzer, which goes by coverage.
//!
//! A property that panics is broken, as one whose check fails is.
//!
//! ```
//! use proptest::test_runner::Config;
//! use windtunnel_proptests::properties;
//!
//! let lone_calls = properties::all().into_iter().find(|property| property.id() == "lone_calls").unwrap();
//! lone_calls.run(Config { cases: 16, failure_persistence: None, ..Config::default() })?;
//! // The first byte chooses the property, the others are what its case is drawn from.
//! properties::try_bytes(b"\x00any bytes")?;
//! # Ok::<(), String>(())
//! ```

pub mod batches;
pub mod evaluated;
mod guards;
pub mod journals;
mod list;
mod programs;
mod property;
mod queues;
mod retry;
pub mod simulated;

pub use list::{all, try_bytes};
pub use property::{Property, drawn_from};
