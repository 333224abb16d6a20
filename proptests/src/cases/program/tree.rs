//! Programs as typed trees: what strategies make, models walk through, and JSON is written from.

use serde_json::Value;
use windtunnel_core::evaluator::Mode;

/// A program of either version.
///
/// ```
/// use windtunnel_core::evaluator::{Mode, Program};
/// use windtunnel_proptests::cases::{Expression, ProgramTree, Version2Program};
///
/// let ping = Expression::ToolCall { tool: "ping".to_owned(), arguments: vec![] };
/// let tree = ProgramTree::Version2(Version2Program { definitions: vec![], body: vec![ping], mode: Mode::Single });
/// assert_eq!(Program::from_value(&tree.to_json())?.node_count(), 2);
/// # Ok::<_, windtunnel_core::evaluator::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramTree {
    /// Positional parameters, lambdas, map, filter and reduce.
    Version1(Version1Program),
    /// Definitions, named arguments, memo.
    Version2(Version2Program),
}

/// A program of version 1. It may stand inside another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Version1Program {
    /// The expressions.
    pub body: Vec<Version1Node>,
    /// How they relate.
    pub mode: Mode,
}

/// A node of version 1 that has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Version1Node {
    /// A value, or the parameter of that name of a lambda around it.
    Value {
        /// The name.
        name: String,
        /// What it is where no lambda around has such a parameter.
        value: Value,
    },
    /// A tool with positional parameters.
    Function(FunctionNode),
    /// One of two branches.
    Conditional {
        /// What decides.
        condition: Box<Self>,
        /// If it is true.
        true_branch: Box<Self>,
        /// If it is false; null without one.
        false_branch: Option<Box<Self>>,
    },
    /// A lambda applied to a list.
    HigherOrder(Box<HigherOrderNode>),
    /// A program inside.
    Program(Version1Program),
}

/// A tool with positional parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionNode {
    /// The tool's name, without the prefix.
    pub tool: String,
    /// Whether it is written as `functions.` and the name (V5).
    pub is_prefixed: bool,
    /// The parameters.
    pub params: Vec<Version1Node>,
}

/// A map, filter or reduce.
#[derive(Clone, Debug, PartialEq)]
pub struct HigherOrderNode {
    /// Which of them.
    pub operation: ListOperation,
    /// The names of the lambda's parameters: one, or the accumulator and the item.
    pub params: Vec<String>,
    /// The lambda's body.
    pub body: FunctionNode,
    /// What comes to the list.
    pub iterable: Version1Node,
}

/// What is done with a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListOperation {
    /// The results.
    Map,
    /// The items whose results are true.
    Filter,
    /// The last result.
    Reduce,
}

/// A program of version 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Version2Program {
    /// The user functions.
    pub definitions: Vec<DefinitionTree>,
    /// The expressions.
    pub body: Vec<Expression>,
    /// How they relate.
    pub mode: Mode,
}

/// A user function.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionTree {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub params: Vec<String>,
    /// What a call of it comes to.
    pub body: Expression,
}

/// An expression of version 2.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A value.
    Literal(Value),
    /// A parameter of the definition around.
    Variable(String),
    /// A user function.
    Call {
        /// Its name.
        function: String,
        /// The arguments, in order.
        arguments: Vec<Self>,
    },
    /// A tool.
    ToolCall {
        /// Its name.
        tool: String,
        /// The arguments by name, in the order of evaluation.
        arguments: Vec<(String, Self)>,
    },
    /// One of two branches.
    Conditional {
        /// What decides.
        condition: Box<Self>,
        /// If it is true.
        true_branch: Box<Self>,
        /// If it is false.
        false_branch: Box<Self>,
    },
    /// An expression that is evaluated once in an evaluation.
    Memo {
        /// The key.
        key: String,
        /// The expression, the same at each memo of the key.
        expression: Box<Self>,
    },
}

impl ProgramTree {
    /// How many expressions the body has.
    pub fn branch_count(&self) -> usize {
        match self {
            Self::Version1(program) => program.body.len(),
            Self::Version2(program) => program.body.len(),
        }
    }

    /// How the expressions of the body relate.
    pub fn mode(&self) -> Mode {
        match self {
            Self::Version1(program) => program.mode,
            Self::Version2(program) => program.mode,
        }
    }

    /// The program with only the expression at `index` of its body.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn only_branch(&self, index: usize) -> Self {
        match self {
            Self::Version1(program) => {
                Self::Version1(Version1Program { body: vec![program.body[index].clone()], mode: program.mode })
            }
            Self::Version2(program) => {
                Self::Version2(Version2Program { body: vec![program.body[index].clone()], ..program.clone() })
            }
        }
    }
}
