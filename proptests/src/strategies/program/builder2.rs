//! From sketches to programs of version 2.

use serde_json::json;
use windtunnel_core::evaluator::Mode;

use super::builder1::Kind;
use super::sketch::Sketch;
use crate::cases::{DefinitionTree, Expression, ProgramTool, Version2Program};

/// The sketches of a whole program.
#[derive(Clone, Debug)]
pub(super) struct Sketches {
    pub(super) body: Vec<Sketch>,
    pub(super) definitions: Vec<Sketch>,
    pub(super) memos: Vec<Sketch>,
}

/// A definition that may be called.
#[derive(Clone, Debug)]
struct Callable {
    name: String,
    params: usize,
    /// Whether its first argument says how often it calls itself.
    is_recursive: bool,
}

/// What an expression may use.
#[derive(Clone, Debug, Default)]
struct Scope {
    variables: Vec<String>,
    callable: Vec<Callable>,
    memos: Vec<(String, Expression)>,
}

/// All definitions come to numbers, and so do all memos.
pub(super) fn program(sketches: &Sketches, mode: Mode) -> Version2Program {
    let mut scope = Scope::default();
    let mut definitions = Vec::new();
    let half = sketches.memos.len().div_ceil(2);
    add_memos(&sketches.memos[..half], &mut scope);
    for sketch in &sketches.definitions {
        define(sketch, &mut scope, &mut definitions);
    }
    // These may call definitions, so no definition may need them.
    add_memos(&sketches.memos[half..], &mut scope);
    let kinds = [Kind::Number, Kind::Flag, Kind::Numbers, Kind::Text, Kind::Anything];
    let kind = |sketch: &Sketch| kinds[usize::from(sketch.number / 8) % kinds.len()];
    let body = sketches.body.iter().map(|sketch| expression(kind(sketch), sketch, &scope)).collect();
    Version2Program { definitions, body, mode }
}

fn add_memos(sketches: &[Sketch], scope: &mut Scope) {
    for sketch in sketches {
        let key = format!("memo{}", scope.memos.len());
        let made = expression(Kind::Number, sketch, scope);
        scope.memos.push((key, made));
    }
}

fn expression(kind: Kind, sketch: &Sketch, scope: &Scope) -> Expression {
    let is_number = matches!(kind, Kind::Number | Kind::Anything);
    if sketch.is_leaf() {
        return match sketch.choice % 4 {
            1 | 2 if is_number && !scope.variables.is_empty() => {
                Expression::Variable(sketch.pick(&scope.variables).clone())
            }
            3 if is_number && !scope.memos.is_empty() => memo(sketch, scope),
            _ => Expression::Literal(kind.literal(sketch)),
        };
    }
    match sketch.choice {
        110..=149 => Expression::Conditional {
            condition: Box::new(expression(Kind::Flag, sketch.part(0), scope)),
            true_branch: Box::new(expression(kind, sketch.part(1), scope)),
            false_branch: Box::new(expression(kind, sketch.part(2), scope)),
        },
        150..=211 if is_number && !scope.callable.is_empty() => call(sketch, scope),
        212..=250 if is_number && !scope.memos.is_empty() => memo(sketch, scope),
        251..=255 => slip(kind, sketch, scope),
        _ => tool_call(kind, sketch, scope),
    }
}

fn memo(sketch: &Sketch, scope: &Scope) -> Expression {
    let (key, expression) = sketch.pick(&scope.memos).clone();
    Expression::Memo { key, expression: Box::new(expression) }
}

fn tool_call(kind: Kind, sketch: &Sketch, scope: &Scope) -> Expression {
    let tool = *sketch.pick(kind.tools());
    let arguments = kind.arguments(tool).into_iter().zip(tool.params()).enumerate();
    let arguments =
        arguments.map(|(index, (kind, param))| (param.name.to_owned(), expression(kind, sketch.part(index), scope)));
    let mut arguments: Vec<_> = arguments.collect();
    if tool == ProgramTool::Sequence && sketch.choice.is_multiple_of(3) {
        arguments.truncate(1);
    }
    if sketch.choice % 3 == 1 {
        arguments.reverse();
    }
    Expression::ToolCall { tool: tool.name().to_owned(), arguments }
}

fn call(sketch: &Sketch, scope: &Scope) -> Expression {
    let callable = sketch.pick(&scope.callable);
    let argument = |index: usize| match index {
        0 if callable.is_recursive => Expression::Literal(json!(sketch.choice % 4)),
        _ => expression(Kind::Number, sketch.part(index), scope),
    };
    let arguments = (0..callable.params).map(argument).collect();
    Expression::Call { function: callable.name.clone(), arguments }
}

/// Adds a definition, or two that call each other. It calls only those before it, and itself until its first argument
/// is 0.
fn define(sketch: &Sketch, scope: &mut Scope, definitions: &mut Vec<DefinitionTree>) {
    let number = definitions.len();
    let (first, second) = (format!("f{number}"), format!("f{}", number + 1));
    match sketch.choice % 3 {
        0 => {
            let params: Vec<_> =
                ["p", "q"][..usize::from(sketch.number % 3)].iter().map(|name| (*name).to_owned()).collect();
            let body = expression(Kind::Number, sketch, &Scope { variables: params.clone(), ..scope.clone() });
            let is_recursive = false;
            scope.callable.push(Callable { name: first.clone(), params: params.len(), is_recursive });
            definitions.push(DefinitionTree { name: first, params, body });
        }
        1 => definitions.push(recursive(&first, &first, sketch, scope)),
        _ => {
            definitions.push(recursive(&first, &second, sketch, scope));
            definitions.push(recursive(&second, &first, sketch.part(0), scope));
        }
    }
    if !sketch.choice.is_multiple_of(3) {
        scope.callable.push(Callable { name: format!("f{number}"), params: 2, is_recursive: true });
    }
}

fn recursive(name: &str, next: &str, sketch: &Sketch, scope: &Scope) -> DefinitionTree {
    let variable = |name: &str| Expression::Variable(name.to_owned());
    let tool = |tool: ProgramTool, a: Expression, b: Expression| Expression::ToolCall {
        tool: tool.name().to_owned(),
        arguments: vec![("a".to_owned(), a), ("b".to_owned(), b)],
    };
    let inside = Scope { variables: vec!["n".to_owned(), "sum".to_owned()], ..scope.clone() };
    let fewer = tool(ProgramTool::Subtract, variable("n"), Expression::Literal(json!(1)));
    let step = expression(Kind::Number, sketch.part(1), &inside);
    let again = |sum: Expression| Expression::Call { function: next.to_owned(), arguments: vec![fewer.clone(), sum] };
    let again = match sketch.number % 2 {
        0 => again(step),
        _ => tool(ProgramTool::Add, step, again(variable("sum"))),
    };
    DefinitionTree {
        name: name.to_owned(),
        params: inside.variables.clone(),
        body: Expression::Conditional {
            condition: Box::new(tool(ProgramTool::LessThanOrEqual, variable("n"), Expression::Literal(json!(0)))),
            true_branch: Box::new(expression(Kind::Number, sketch.part(2), &inside)),
            false_branch: Box::new(again),
        },
    }
}

/// What reading accepts and evaluating refuses: another kind, a missing tool, too many or too few arguments.
fn slip(kind: Kind, sketch: &Sketch, scope: &Scope) -> Expression {
    let Expression::ToolCall { mut tool, mut arguments } = tool_call(kind, sketch, scope) else {
        return Expression::Literal(json!(null));
    };
    match sketch.number % 4 {
        0 => return expression(*sketch.pick(&[Kind::Text, Kind::Numbers, Kind::Number]), sketch.part(0), scope),
        1 => tool = "missing".to_owned(),
        2 => arguments.push(("other".to_owned(), expression(Kind::Number, sketch.part(0), scope))),
        _ => drop(arguments.pop()),
    }
    Expression::ToolCall { tool, arguments }
}
