//! The one vocabulary: every step that matters, said as an event.
//!
//! Tests assert on events, traces are made of them, `tracing` mirrors them, and a simulated world may act at the point
//! where one is emitted. Events carry no arguments, results, reasons or cause texts: those may be secret.
//!
//! In production, `tracing-opentelemetry` sends a call as a span with its events, under OpenTelemetry's names, to any
//! collector. Let only the target `windtunnel::event` through to it: other records at DEBUG hold texts of causes
//! (`core/tests/it/opentelemetry.rs` is the recipe). What happened in a world is on virtual time, and is exported from its
//! trace.

mod about;
mod catalogue;
mod emitter;
mod gate;
mod line;
mod log;
mod mirror;
mod sink;
mod step;

pub use catalogue::EventKind;
pub use emitter::{Emitter, Subject};
pub use gate::Gate;
pub use line::EventLine;
pub use log::EventLog;
pub(crate) use mirror::call_span;
pub use sink::Sink;
pub use step::Event;
