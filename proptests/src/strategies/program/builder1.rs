//! From sketches to programs of version 1.

use serde_json::{Value, json};
use windtunnel_core::evaluator::Mode;

use super::sketch::Sketch;
use crate::cases::{FunctionNode, HigherOrderNode, ListOperation, ProgramTool, Version1Node, Version1Program};

/// What a node comes to, if nothing slips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Flag,
    Numbers,
    Text,
    Anything,
}

const CONCRETE: [Kind; 4] = [Kind::Number, Kind::Flag, Kind::Numbers, Kind::Text];

impl Kind {
    /// The tools that give it. The first is the simplest.
    pub(super) fn tools(self) -> &'static [ProgramTool] {
        use ProgramTool::{
            Add, Echo, Fetch, GreaterThan, IsOdd, Length, LessThanOrEqual, Multiply, Negate, Pair, Ping, Sequence,
            Subtract,
        };
        match self {
            Self::Number => &[Add, Subtract, Multiply, Negate, Length, Fetch, Echo],
            Self::Flag => &[IsOdd, LessThanOrEqual, GreaterThan, Echo],
            Self::Numbers => &[Sequence, Pair, Echo],
            Self::Text => &[Ping, Echo],
            Self::Anything => &[Pair, Echo, Fetch, Ping],
        }
    }

    /// What the arguments of a tool must be so that it gives this kind.
    pub(super) fn arguments(self, tool: ProgramTool) -> Vec<Self> {
        let argument = match tool {
            ProgramTool::Echo => self,
            ProgramTool::Pair if self == Self::Numbers => Self::Number,
            ProgramTool::Pair => Self::Anything,
            ProgramTool::Length => Self::Numbers,
            ProgramTool::Fetch => Self::Text,
            _ => Self::Number,
        };
        vec![argument; tool.params().len()]
    }

    /// A literal. The first is the simplest; those of `Anything` are true and false in every way there is (V4).
    pub(super) fn literal(self, sketch: &Sketch) -> Value {
        let all = match self {
            Self::Number => return json!(i64::from(sketch.number % 8) - i64::from(sketch.choice % 4)),
            Self::Flag => vec![json!(false), json!(true)],
            Self::Numbers => vec![json!([]), json!([1]), json!([2, 0, 3]), json!([5, -1, 0, 4])],
            Self::Text => vec![json!("k"), json!(""), json!("two words"), json!("ü")],
            Self::Anything => vec![
                json!(0),
                json!(1),
                json!(""),
                json!("0"),
                json!([]),
                json!([0]),
                json!({}),
                json!({"a": null}),
                json!(0.0),
                json!(-0.0),
                json!(1.5),
                json!(true),
                json!(false),
                json!(u64::MAX),
                json!([1, [2, {}]]),
            ],
        };
        sketch.pick(&all).clone()
    }
}

/// A parameter of a lambda around.
#[derive(Clone, Debug)]
struct Bound {
    name: String,
    kind: Kind,
    /// What is written where its value is meant.
    placeholder: Value,
    /// How many lambdas are around its own.
    level: usize,
}

/// The names around a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    bound: Vec<Bound>,
    level: usize,
    is_in_program: bool,
}

impl Scope {
    /// The parameters of this kind that no other hides.
    fn of_kind(&self, kind: Kind) -> Vec<&Bound> {
        let is_hidden = |index: usize| self.bound[index + 1..].iter().any(|later| later.name == self.bound[index].name);
        let visible = self.bound.iter().enumerate().filter(|(index, _)| !is_hidden(*index));
        visible.map(|(_, bound)| bound).filter(|bound| bound.kind == kind || kind == Kind::Anything).collect()
    }

    fn reference(&self, bound: &Bound) -> Version1Node {
        let is_own = bound.level == self.level && !self.is_in_program;
        // Elsewhere null may not stand for it.
        let value = if is_own { bound.placeholder.clone() } else { json!(7) };
        Version1Node::Value { name: bound.name.clone(), value }
    }
}

pub(super) fn program(sketches: &[Sketch], mode: Mode, scope: &Scope) -> Version1Program {
    let kind = |sketch: &Sketch| CONCRETE[usize::from(sketch.number / 8) % CONCRETE.len()];
    Version1Program { body: sketches.iter().map(|sketch| node(kind(sketch), sketch, scope, "v")).collect(), mode }
}

/// A node of this kind. A leaf is called `name`, unless it stands for a parameter.
pub(super) fn node(kind: Kind, sketch: &Sketch, scope: &Scope, name: &str) -> Version1Node {
    if sketch.is_leaf() {
        let references = scope.of_kind(kind);
        if !references.is_empty() && !sketch.choice.is_multiple_of(3) {
            // Those of lambdas further out are the rarer ones.
            let outer: Vec<_> = references.iter().copied().filter(|bound| bound.level < scope.level).collect();
            let bound = if outer.is_empty() { *sketch.pick(&references) } else { *sketch.pick(&outer) };
            return scope.reference(bound);
        }
        return Version1Node::Value { name: name.to_owned(), value: kind.literal(sketch) };
    }
    match sketch.choice {
        0..=109 => Version1Node::Function(function(kind, sketch, scope)),
        110..=145 => conditional(kind, sketch, scope),
        146..=219 => match kind {
            Kind::Numbers if sketch.number.is_multiple_of(2) => map(sketch, scope),
            Kind::Numbers => filter(sketch, scope),
            Kind::Number | Kind::Anything => reduce(kind, sketch, scope),
            Kind::Flag | Kind::Text => Version1Node::Function(function(kind, sketch, scope)),
        },
        220..=250 => nested_program(kind, sketch, scope),
        _ => slip(kind, sketch, scope),
    }
}

fn function(kind: Kind, sketch: &Sketch, scope: &Scope) -> FunctionNode {
    let tool = *sketch.pick(kind.tools());
    let params = kind.arguments(tool).into_iter().zip(tool.params()).enumerate();
    let params = params.map(|(index, (kind, param))| node(kind, sketch.part(index), scope, param.name));
    let mut params: Vec<_> = params.collect();
    if tool == ProgramTool::Sequence && sketch.choice.is_multiple_of(3) {
        params.truncate(1);
    }
    FunctionNode { tool: tool.name().to_owned(), is_prefixed: sketch.choice % 7 == 6, params }
}

fn conditional(kind: Kind, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let condition = if sketch.number.is_multiple_of(2) { Kind::Flag } else { Kind::Anything };
    // Without one, null may be what the place cannot take.
    let has_false_branch = kind != Kind::Anything && sketch.number % 8 < 7 || sketch.number.is_multiple_of(2);
    Version1Node::Conditional {
        condition: Box::new(node(condition, sketch.part(0), scope, "v")),
        true_branch: Box::new(node(kind, sketch.part(1), scope, "v")),
        false_branch: has_false_branch.then(|| Box::new(node(kind, sketch.part(2), scope, "v"))),
    }
}

fn nested_program(kind: Kind, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let scope = Scope { is_in_program: true, ..scope.clone() };
    let (count, kind, mode) = match kind {
        Kind::Numbers => (2, Kind::Number, Mode::Parallel),
        Kind::Anything => (sketch.parts.len() - 1, Kind::Anything, Mode::Parallel),
        kind if sketch.number.is_multiple_of(2) => (1, kind, Mode::Single),
        kind => (1, kind, Mode::Parallel),
    };
    let body = (0..count).map(|index| node(kind, sketch.part(index), &scope, "v")).collect();
    Version1Node::Program(Version1Program { body, mode })
}

/// A scope with one more lambda, whose parameters are these.
pub(super) fn inside(scope: &Scope, params: &[(&str, Kind, Value)]) -> Scope {
    let level = scope.level + 1;
    let bound = params.iter().map(|(name, kind, placeholder)| Bound {
        name: (*name).to_owned(),
        kind: *kind,
        placeholder: placeholder.clone(),
        level,
    });
    Scope { bound: scope.bound.iter().cloned().chain(bound).collect(), level, is_in_program: false }
}

/// A parameter of the lambda right around, itself or inside something that passes it on.
fn used(name: &str, is_direct: bool, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let Some(bound) = scope.bound.iter().rfind(|bound| bound.name == name) else {
        return Version1Node::Value { name: name.to_owned(), value: Value::Null };
    };
    let reference = scope.reference(bound);
    match sketch.choice % 6 {
        3 if !is_direct => {
            let (tool, is_prefixed) = (ProgramTool::Echo.name().to_owned(), false);
            Version1Node::Function(FunctionNode { tool, is_prefixed, params: vec![reference] })
        }
        4 | 5 if !is_direct => Version1Node::Conditional {
            condition: Box::new(node(Kind::Flag, sketch.part(0), scope, "v")),
            true_branch: Box::new(reference),
            false_branch: Some(Box::new(node(bound.kind, sketch.part(1), scope, "v"))),
        },
        _ => reference,
    }
}

/// The body of a lambda of one parameter, which stands in one of the tool's places.
fn body_of_one(tools: &[ProgramTool], name: &str, sketch: &Sketch, scope: &Scope) -> FunctionNode {
    let tool = *sketch.pick(tools);
    let place = usize::from(sketch.choice) % tool.params().len();
    let params = tool.params().iter().enumerate().map(|(index, param)| match index == place {
        true => used(name, false, sketch.part(0), scope),
        false if !sketch.part(1).is_leaf() && sketch.part(1).number % 2 == 1 => {
            reduce(Kind::Number, sketch.part(1), scope)
        }
        false => node(Kind::Number, sketch.part(1), scope, param.name),
    });
    let params = params.collect();
    FunctionNode { tool: tool.name().to_owned(), is_prefixed: sketch.choice % 7 == 6, params }
}

fn of_one(operation: ListOperation, tools: &[ProgramTool], sketch: &Sketch, scope: &Scope) -> Version1Node {
    let name = *sketch.pick(&["x", "x", "y"]);
    let placeholder = if sketch.choice.is_multiple_of(2) { Value::Null } else { json!(3) };
    let inner = inside(scope, &[(name, Kind::Number, placeholder)]);
    Version1Node::HigherOrder(Box::new(HigherOrderNode {
        operation,
        params: vec![name.to_owned()],
        body: body_of_one(tools, name, sketch.part(1), &inner),
        iterable: iterable(sketch, scope),
    }))
}

/// A list, unless it slips.
fn iterable(sketch: &Sketch, scope: &Scope) -> Version1Node {
    let kind = if sketch.number % 16 == 15 { Kind::Anything } else { Kind::Numbers };
    node(kind, sketch.part(0), scope, "items")
}

fn map(sketch: &Sketch, scope: &Scope) -> Version1Node {
    use ProgramTool::{Add, Echo, Multiply, Negate, Subtract};
    of_one(ListOperation::Map, &[Add, Subtract, Multiply, Negate, Echo], sketch, scope)
}

fn filter(sketch: &Sketch, scope: &Scope) -> Version1Node {
    use ProgramTool::{Echo, GreaterThan, IsOdd, LessThanOrEqual};
    of_one(ListOperation::Filter, &[IsOdd, LessThanOrEqual, GreaterThan, Echo], sketch, scope)
}

fn reduce(kind: Kind, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let tools: &[_] = match kind {
        Kind::Anything => &[ProgramTool::Pair],
        _ => &[ProgramTool::Add, ProgramTool::Subtract, ProgramTool::Multiply],
    };
    let tool = *sketch.pick(tools);
    let (accumulator, item) = *sketch.pick(&[("acc", "item"), ("acc", "x"), ("x", "item"), ("item", "acc")]);
    let initializer = if sketch.choice.is_multiple_of(2) { Value::Null } else { json!(10) };
    let starts_null = initializer.is_null();
    let inner = inside(scope, &[(accumulator, kind, initializer), (item, Kind::Number, json!(5))]);
    let body = sketch.part(1);
    let accumulated = used(accumulator, false, body.part(0), &inner);
    // The first item can only be taken where it stands right beside (V2).
    let taken = used(item, starts_null, body.part(1), &inner);
    let params = if body.choice.is_multiple_of(2) { vec![accumulated, taken] } else { vec![taken, accumulated] };
    Version1Node::HigherOrder(Box::new(HigherOrderNode {
        operation: ListOperation::Reduce,
        params: vec![accumulator.to_owned(), item.to_owned()],
        body: FunctionNode { tool: tool.name().to_owned(), is_prefixed: false, params },
        iterable: iterable(sketch, scope),
    }))
}

/// What reading accepts and evaluating refuses: another kind, a missing tool, too many or too few parameters.
fn slip(kind: Kind, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let mut slipped = function(kind, sketch, scope);
    match sketch.number % 4 {
        0 => return node(*sketch.part(0).pick(&CONCRETE), sketch.part(0), scope, "v"),
        1 => slipped.tool = "missing".to_owned(),
        2 => slipped.params.push(node(Kind::Number, sketch.part(0), scope, "v")),
        _ => drop(slipped.params.pop()),
    }
    Version1Node::Function(slipped)
}
