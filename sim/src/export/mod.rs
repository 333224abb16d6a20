//! Runs and verdicts in formats of other tools: events or verdicts in, text out.
//!
//! ```
//! use windtunnel_core::executor::Executor;
//! use windtunnel_core::tool::Registry;
//! use windtunnel_sim::{World, export};
//!
//! let run = World::new(7).run(|world| async move {
//!     let executor = Executor::builder(Registry::new()).env(world.env()).sink(world.trace()).build();
//!     executor.run("search", serde_json::json!({})).await.is_err() // there is no such tool
//! });
//! // For https://ui.perfetto.dev, a collector of OpenTelemetry, and anything that reads lines.
//! assert!(export::perfetto(&run.trace).contains("\"traceEvents\""));
//! assert!(export::otlp(&run.trace, std::time::SystemTime::UNIX_EPOCH).contains("\"execute_tool search\""));
//! assert_eq!(export::json_lines(&run.trace).lines().count(), run.trace.len());
//! ```

mod file;
mod json_lines;
mod junit;
mod lane;
mod message;
mod otlp;
mod perfetto;
mod span;

pub use file::{SaveError, save};
pub use json_lines::json_lines;
pub use junit::{JunitCase, JunitOutcome, JunitSuite, junit};
pub use otlp::otlp;
pub use perfetto::perfetto;
