//! What providers say: one file a dialect.

mod chat;
mod dialect;
mod messages;
mod responses;

pub(crate) use dialect::{ARGUMENTS, Dialect, TOOL, Turn};
