//! A journal across a network: [`RemoteStore`] asks, [`serve`] answers, over any stream of bytes.
//!
//! Nothing here opens a socket, and nothing is spawned: whoever waits for an answer drives the client's stream, and the
//! server lives in the future of [`serve`].
//!
//! ```
//! use std::io;
//! use std::sync::{Arc, Mutex};
//!
//! use serde_json::json;
//! use windtunnel_core::durable::remote::{RemoteStore, serve};
//! use windtunnel_core::durable::{Checkpoint, JournalStore, MemoryStore, Started};
//! use windtunnel_core::env::Env;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), windtunnel_core::BoxError> {
//! let env = Env::system();
//! // A pair of streams stands for a socket and its other end.
//! let (near, far) = tokio::io::duplex(4096);
//! let near = Mutex::new(Some(near));
//! let remote = RemoteStore::new(env.clone(), move || {
//!     let stream = near.lock().ok().and_then(|mut near| near.take());
//!     async move { stream.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused)) }
//! });
//! let client = async move {
//!     let checkpoint = Checkpoint::new("start", json!({"order": 7}))?;
//!     let started = remote.start("order-7", "refund", checkpoint).await?;
//!     // With the last handle the stream is closed, and so the server ends.
//!     drop(remote);
//!     Ok::<_, windtunnel_core::BoxError>(started)
//! };
//! let (started, served) = tokio::join!(client, serve(Arc::new(MemoryStore::new(env)), far));
//! served?;
//! assert_eq!(started?, Started::New);
//! # Ok(())
//! # }
//! ```
//!
#![doc = include_str!("WIRE.md")]

mod call;
mod checksum;
mod client;
mod dispatch;
mod error;
mod exchange;
mod frame;
mod line;
mod message;
mod page;
mod request;
mod server;
mod wakers;

pub use client::RemoteStore;
pub use error::{ProtocolError, RemoteError};
pub use exchange::{CALLS_WAITING_MAX, REQUESTS_IN_FLIGHT_MAX};
pub use frame::FRAME_BYTES_MAX;
pub use frame::FrameError;
pub use message::ErrorCode;
pub use page::{PAGE_BYTES_MAX, PAGES_MAX};
pub use server::{ServeError, serve};
