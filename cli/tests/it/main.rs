//! The command as its users meet it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod check;
mod command;
mod input;
mod interrupt;
mod replay;
mod run;
