//! `windtunnel program`: programs as text, as a tree, and evaluated.

mod arguments;
mod check;
mod outcome;
mod perform;
mod run;
mod seconds;
mod show;
mod source;
mod tools;

pub(crate) use arguments::ProgramCommand;
pub(crate) use perform::perform;
