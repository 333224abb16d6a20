//! `windtunnel record` and `windtunnel serve`: traffic of clients in any language, recorded and replayed.

mod arguments;
mod child;
mod front;
mod overlay;
mod record;
mod secrets;
mod serve;
mod watched;

pub(crate) use arguments::{EXIT_CODES_OF_RECORD, EXIT_CODES_OF_SERVE, FileOptions, RecordOptions, ServeOptions};
pub(crate) use front::{Announcement, Front, runtime};
pub(crate) use record::record;
pub(crate) use secrets::{SecretsOptions, environment};
pub(crate) use serve::{rules, serve};
