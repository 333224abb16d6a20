//! `windtunnel diff`: two traces, side by side where they first differ.

mod arguments;
mod comparison;
mod document;
mod line;
mod perform;
mod text;
mod trace;

pub(crate) use arguments::{DiffOptions, EXIT_CODES};
pub(crate) use perform::perform;
