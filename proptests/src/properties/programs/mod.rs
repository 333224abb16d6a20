//! Programs under limits and policies (V1–V11).

mod exact;
mod list;
mod model;

pub(super) use list::properties;
