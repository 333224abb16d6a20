//! Published crates, used as their own documentation says.

mod backoff;
mod backon;
mod exponential_backoff;
mod table;
mod tokio_retry;
mod tower;
mod tryhard;
