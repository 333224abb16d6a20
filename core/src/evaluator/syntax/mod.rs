//! Programs as text and as a tree: reading, checking, writing, showing.

mod declared;
#[cfg(test)]
mod depth;
mod document;
mod interner;
mod memo;
mod offence;
mod outline;
mod payload;
mod place;
mod program;
mod reader;
mod schema;
mod scope;
mod tree;
mod version;
mod version1;
mod version2;
mod wording;
mod writing;

pub use offence::{Offence, ProgramError};
pub use program::Program;
pub(super) use tree::{Binding, Children, MemoId, Node, NodeId, Operation, ToolId, Tree};
pub use tree::{Mode, Version};
