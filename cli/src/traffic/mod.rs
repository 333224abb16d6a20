//! `windtunnel record` and `windtunnel serve`: traffic of clients in any language, recorded and replayed.

mod arguments;
mod child;
mod front;
mod overlay;
mod record;
mod secrets;
mod serve;

pub(crate) use arguments::{EXIT_CODES_OF_RECORD, EXIT_CODES_OF_SERVE, RecordOptions, ServeOptions};
pub(crate) use record::record;
pub(crate) use serve::serve;
