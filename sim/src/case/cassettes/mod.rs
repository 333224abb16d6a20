//! Cassettes that stand in for the model and the tools of a case.

mod library;
mod moved;
mod playing;
mod recorded;
mod shelf;
mod wire;

pub(super) use library::Library;
pub(super) use moved::move_cassettes;
pub(super) use playing::{Playing, RecordedModel, Replayed};
pub(super) use recorded::RecordedTurn;
pub(super) use shelf::{Shelf, ShelfBuilder};
pub(super) use wire::WireReplay;
