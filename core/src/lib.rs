//! What an AI agent's tool calls mean.
//!
//! This crate decides how a call is validated, approved, counted, cached, locked, retried and recorded, and says every
//! step as an [`event`]. It reaches time, chance and identity only through [`env::Env`], so the same code runs in
//! production and in a simulated world. It knows no file format and no simulator, and opens no socket.
//!
//! Start with [`executor::Executor`].

#[doc(hidden)]
pub mod canary;
mod causes;
pub mod durable;
pub mod env;
pub mod evaluator;
pub mod event;
pub mod executor;
pub mod json;
pub mod model;
pub mod tool;

/// Any error a tool, hook or port may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub use futures_core::future::BoxFuture;
pub use futures_core::stream::BoxStream;
