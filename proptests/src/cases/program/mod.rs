//! Programs of both versions, and what the tools that they call do.

mod arguments;
mod behaviour;
mod mutation;
mod nodes;
mod render;
mod tool;
mod tree;

pub use arguments::ProgramArgument;
pub use behaviour::{AttemptEnding, AttemptScript, AttemptStep, Keying, ProgramCase, ToolBehaviours, without_messages};
pub use mutation::{Mutation, MutationKind};
pub use nodes::NodeKind;
pub use tool::{ProgramTool, Shape, ToolParam};
pub use tree::{
    DefinitionTree, Expression, FunctionNode, HigherOrderNode, ListOperation, ProgramTree, Version1Node,
    Version1Program, Version2Program,
};
