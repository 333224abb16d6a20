//! One expression: parsed, checked, bounded, evaluated.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cel::{Context, ExecutionError, ParseErrors, Program, Value};
use windtunnel_core::env::panic_message;

use super::cost::{self, Size};
use super::deep_stack::on_deep_stack;
use super::names::check_names;

/// The longest expression, in bytes. With it the stack that parsing takes is bounded too.
const BYTES_MAX: usize = 2048;
/// How deep brackets may nest.
const BRACKETS_MAX: usize = 48;
/// How many operators, selections and calls may be applied to one another.
const DEPTH_MAX: usize = 100;

/// An expression that is true or false.
#[derive(Debug)]
pub(in crate::case) struct Expression {
    text: String,
    program: Program,
}

impl Expression {
    /// Parses an expression over `variables`.
    ///
    /// # Errors
    /// What is wrong with it, for a message.
    pub(in crate::case) fn compile(text: &str, variables: &[&str]) -> Result<Self, String> {
        if text.len() > BYTES_MAX {
            return Err(format!("the expression has {} bytes; at most {BYTES_MAX} are allowed", text.len()));
        }
        if bracket_depth(text) > BRACKETS_MAX {
            return Err(format!("brackets are nested deeper than the {BRACKETS_MAX} levels allowed"));
        }
        let compiled = on_deep_stack(|| {
            let program = guarded(|| Program::compile(text))?.map_err(|errors| syntax_error(&errors))?;
            if cost::depth(program.expression()) > DEPTH_MAX {
                return Err(format!("the expression applies more than {DEPTH_MAX} operations to one another"));
            }
            check_names(program.expression(), variables)?;
            Ok(program)
        });
        let program = compiled.map_err(|error| format!("no thread to parse the expression on: {error}"))??;
        Ok(Self { text: text.to_owned(), program })
    }

    /// The expression as it was written.
    pub(in crate::case) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it mentions a variable.
    pub(super) fn mentions(&self, variable: &str) -> bool {
        self.program.references().has_variable(variable)
    }

    /// Refuses to evaluate it `times` if that could take too long or too much memory with variables of these sizes.
    pub(super) fn check_cost(&self, sizes: &BTreeMap<&str, Size>, times: usize) -> Result<(), String> {
        cost::check(self.program.expression(), sizes, times)
    }

    /// Evaluates it. Call it on a deep stack.
    pub(super) fn holds(&self, context: &Context<'_, '_>) -> Result<bool, String> {
        match guarded(|| self.program.execute(context))? {
            Ok(Value::Bool(truth)) => Ok(truth),
            Ok(other) => {
                let found = format!("{:?}", other.type_of()).to_lowercase();
                Err(format!("the expression must be true or false, and is of type {found}"))
            }
            Err(error) => Err(describe(&error)),
        }
    }
}

fn bracket_depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for letter in text.bytes() {
        match letter {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn syntax_error(errors: &ParseErrors) -> String {
    match errors.errors.first() {
        Some(error) => {
            let message = error.msg.strip_prefix("Syntax error: ").unwrap_or(&error.msg);
            format!("CEL, column {}: {}", error.pos.1.max(1), cut(message))
        }
        None => "CEL: not an expression".to_owned(),
    }
}

/// The first line of a message, cut to a readable length.
fn cut(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match line.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// What went wrong, without values that hold maps: CEL prints those in a random order.
fn describe(error: &ExecutionError) -> String {
    let type_of = |value: &Value| format!("{:?}", value.type_of()).to_lowercase();
    match error {
        ExecutionError::ValuesNotComparable(first, second) => {
            format!("a value of type {} cannot be compared with one of type {}", type_of(first), type_of(second))
        }
        ExecutionError::UnsupportedBinaryOperator(operator, first, second) => {
            format!("{operator} is not defined for the types {} and {}", type_of(first), type_of(second))
        }
        ExecutionError::UnsupportedIndex(index, container) => {
            format!("a value of type {} has nothing at an index of type {}", type_of(container), type_of(index))
        }
        ExecutionError::NotSupportedAsMethod { method, target } => {
            format!("{method} is not defined for the type {}", type_of(target))
        }
        ExecutionError::UnsupportedTargetType { target } => {
            format!("it is not defined for the type {}", type_of(target))
        }
        ExecutionError::UnsupportedKeyType(key) => format!("a value of type {} cannot be a key", type_of(key)),
        other => in_lowercase(&cut(&other.to_string())),
    }
}

/// The message as part of a longer one.
fn in_lowercase(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A panic of the CEL implementation, as an error.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| format!("CEL: {}", cut(panic_message(&*payload))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(Expression::compile(text, &["results", "events"]).unwrap_err(), message);
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_column() {
        let Err(message) = Expression::compile("results.all(r, r.attempts <)", &["results"]) else {
            panic!("accepted")
        };
        assert!(message.starts_with("CEL, column 28: "), "{message}");
        assert!(Expression::compile("", &[]).is_err());
    }

    #[test]
    fn hostile_expressions_are_refused_without_harm() {
        check_refused(&"1+".repeat(2000), "the expression has 4000 bytes; at most 2048 are allowed");
        check_refused(&"(".repeat(2000), "brackets are nested deeper than the 48 levels allowed");
        let chained = "the expression applies more than 100 operations to one another";
        check_refused(&vec!["1"; 1024].join("+"), chained);
        check_refused(&vec!["1"; 682].join("=="), chained);
        check_refused(&format!("results{}", ".a".repeat(1000)), chained);
        check_refused(&format!("results{}", "[0]".repeat(680)), chained);
        check_refused(&format!("results{}", ".map(x,x)".repeat(200)), chained);
        check_refused(&format!("results{}", ".size()".repeat(280)), chained);
        for text in [")(".repeat(1000), "'".repeat(2048), "-".repeat(2048), "!".repeat(2048), "\u{feff}é😀".repeat(200)]
        {
            assert!(Expression::compile(&text, &[]).is_err());
        }
        for (open, close) in [("(", ")"), ("[", "]"), ("{1:", "}"), ("size(", ")"), ("[1].map(x,", ")"), ("-(", ")")] {
            let _parsed_or_refused = Expression::compile(&format!("{}1{}", open.repeat(48), close.repeat(48)), &[]);
        }
    }
}
