//! Published crates, used as their own documentation says.

mod async_lock;
mod leaky_bucket;
mod table;
mod tokio;
mod tower;
