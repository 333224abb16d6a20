//! The tree of a program, in an arena: nothing about it is recursive, so that no depth can overflow a stack (V9).

use std::fmt;
use std::sync::Arc;

use super::super::datum::Datum;

/// The version of the schema that a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `"1.0"`: functions with positional parameters, lambdas, map, filter and reduce.
    V1,
    /// `"2.0"`: definitions that may be recursive, named arguments, memo.
    V2,
}

impl Version {
    /// What `schema_version` says.
    ///
    /// ```
    /// use windtunnel_core::evaluator::Version;
    ///
    /// assert_eq!(Version::V2.as_str(), "2.0");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V2 => "2.0",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Whether the failures of the expressions of a program's body can be
/// [collected](crate::evaluator::ParallelFailures::Collect).
///
/// It decides nothing else. In either mode all expressions of the body begin at once, or as many as
/// [`max_concurrency`](crate::evaluator::ExecutionLimits::max_concurrency) allows. Inside an expression, `params` of
/// version 1 are evaluated at once, unless there is that limit, and `arguments` of version 2 one after another, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They cannot: the first failure ends the evaluation.
    Single,
    /// They can.
    Parallel,
}

impl Mode {
    /// What `mode` says.
    ///
    /// ```
    /// use windtunnel_core::evaluator::Mode;
    ///
    /// assert_eq!(Mode::Parallel.as_str(), "parallel");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Parallel => "parallel",
        }
    }
}

/// A node's place in the arena. A child's is always greater than its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluator) struct NodeId(pub(in crate::evaluator) u32);

/// A name's place in [`Tree::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluator) struct NameId(pub(in crate::evaluator) u32);

/// A tool's place in [`Tree::tools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluator) struct ToolId(pub(in crate::evaluator) u32);

/// A memo key's place in [`Tree::memo_keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluator) struct MemoId(pub(in crate::evaluator) u32);

/// Nodes that stand next to each other in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluator) struct Children {
    pub(in crate::evaluator) first: u32,
    pub(in crate::evaluator) count: u32,
}

impl Children {
    pub(in crate::evaluator) fn get(self, index: u32) -> NodeId {
        debug_assert!(index < self.count);
        NodeId(self.first + index)
    }

    pub(in crate::evaluator) fn iter(self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator {
        (self.first..self.first + self.count).map(NodeId)
    }
}

/// Which value of which scope a name stands for: `levels` scopes out from the innermost, the `index`th there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluator) struct Binding {
    pub(in crate::evaluator) levels: u32,
    pub(in crate::evaluator) index: u32,
}

/// What a node does with a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::evaluator) enum Operation {
    Map,
    Filter,
    Reduce {
        /// The value node whose value is the initializer: the first in the lambda's body that has the accumulator's name.
        accumulator: NodeId,
        /// What that name stands for outside the lambda, if anything.
        outer: Option<Binding>,
    },
}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evaluator) enum Node {
    /// Both versions. In version 1 a program may stand inside a program.
    Program { body: Children, mode: Mode, title: Box<Title> },
    /// Version 1. `binding` is set where the name is that of a lambda's parameter around it.
    Value { name: NameId, value: Datum, binding: Option<Binding> },
    /// Version 1: a tool with positional parameters. `name` is as it is written, `tool` without `functions.` (V5).
    Function { name: NameId, tool: ToolId, params: Children },
    /// Both versions: the condition, the true branch, and the false branch unless version 1 leaves it out.
    Conditional { parts: Children },
    /// Version 1: a map, filter or reduce. The lambda and then the iterable.
    HigherOrder { operation: Operation, parts: Children },
    /// Version 1. Its body is a function.
    Lambda { params: Box<[NameId]>, body: NodeId },
    /// Version 2.
    Literal { value: Datum },
    /// Version 2: the `index`th parameter of the definition around it.
    Variable { name: NameId, index: u32 },
    /// Version 2: a call of `Tree::definitions[definition]`.
    Call { definition: u32, arguments: Children },
    /// Version 2: a tool with named arguments, in the order they are written.
    ToolCall { tool: ToolId, names: Box<[NameId]>, arguments: Children },
    /// Version 2.
    Memo { key: MemoId, expression: NodeId },
}

/// What people call a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::evaluator) struct Title {
    pub(in crate::evaluator) name: Option<Arc<str>>,
    pub(in crate::evaluator) description: Option<Arc<str>>,
}

/// A user function of version 2.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evaluator) struct Definition {
    pub(in crate::evaluator) name: NameId,
    pub(in crate::evaluator) params: Box<[NameId]>,
    pub(in crate::evaluator) body: NodeId,
}

/// A valid program. The root is node 0, a [`Node::Program`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::evaluator) struct Tree {
    pub(in crate::evaluator) version: Version,
    pub(in crate::evaluator) nodes: Vec<Node>,
    pub(in crate::evaluator) definitions: Vec<Definition>,
    /// Every name once.
    pub(in crate::evaluator) names: Vec<Arc<str>>,
    /// Every tool that is called once, by the name that a provider knows.
    pub(in crate::evaluator) tools: Vec<Arc<str>>,
    pub(in crate::evaluator) memo_keys: Vec<Arc<str>>,
}

impl Tree {
    pub(in crate::evaluator) const ROOT: NodeId = NodeId(0);

    pub(in crate::evaluator) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    pub(in crate::evaluator) fn name(&self, name: NameId) -> &Arc<str> {
        &self.names[name.0 as usize]
    }

    pub(in crate::evaluator) fn tool(&self, tool: ToolId) -> &Arc<str> {
        &self.tools[tool.0 as usize]
    }
}
