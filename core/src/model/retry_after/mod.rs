//! How long a provider asks to wait, wherever and however it says so.

mod date;
mod delay;
mod hint;

pub use date::http_date;
pub(in crate::model) use hint::error_of;
pub use hint::{RETRY_AFTER_MAX, retry_after};
