//! `windtunnel journal`: what is in a file of journals.

mod arguments;
mod document;
mod perform;
mod show;
mod source;
mod text;
mod verify;

pub(crate) use arguments::JournalCommand;
pub(crate) use perform::perform;
