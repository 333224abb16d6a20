//! From the text of a case file to JSON values that know their place in it.

mod document;
mod format;
mod json;
mod places;
mod split;
mod toml;

pub(super) use document::{Document, Pointing};
pub use format::Format;
pub(super) use split::{documents, whole};
