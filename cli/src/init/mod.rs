//! `windtunnel init`: a first test and a first case for a crate.

mod arguments;
mod error;
mod manifest;
mod perform;

pub(crate) use arguments::{EXIT_CODES, InitOptions};
pub(crate) use error::InitError;
pub(crate) use perform::perform;
