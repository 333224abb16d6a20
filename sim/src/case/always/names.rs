//! Which names an expression may use.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr, IdedEntryExpr, operators};

use crate::case::suggestion;

/// The functions of CEL's standard library that are offered.
const FUNCTIONS: [&str; 12] =
    ["bool", "bytes", "contains", "double", "dyn", "endsWith", "int", "size", "startsWith", "string", "type", "uint"];

const OPERATORS: [&str; 18] = [
    operators::ADD,
    operators::CONDITIONAL,
    operators::DIVIDE,
    operators::EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::IN,
    operators::INDEX,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::LOGICAL_AND,
    operators::LOGICAL_NOT,
    operators::LOGICAL_OR,
    operators::MODULO,
    operators::MULTIPLY,
    operators::NEGATE,
    operators::NOT_EQUALS,
    operators::SUBSTRACT,
];

/// The names of types, which are values in CEL.
const TYPES: [&str; 10] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Refuses unknown variables and functions, so that a slip does not wait for a run to be found.
pub(super) fn check_names(expression: &IdedExpr, variables: &[&str]) -> Result<(), String> {
    Scope { variables, bound: Vec::new() }.check(expression)
}

struct Scope<'a> {
    variables: &'a [&'a str],
    /// The variables of the macros around the expression.
    bound: Vec<&'a str>,
}

impl<'a> Scope<'a> {
    fn check(&mut self, expression: &'a IdedExpr) -> Result<(), String> {
        match &expression.expr {
            Expr::Ident(name) => self.check_variable(name),
            Expr::Select(select) => self.check(&select.operand),
            Expr::Call(call) => {
                check_function(&call.func_name)?;
                self.check_all(call.target.as_deref().into_iter().chain(&call.args))
            }
            Expr::List(list) => self.check_all(&list.elements),
            Expr::Map(map) => self.check_entries(&map.entries),
            Expr::Comprehension(comprehension) => {
                self.check(&comprehension.iter_range)?;
                self.check(&comprehension.accu_init)?;
                let outside = self.bound.len();
                self.bound.extend([comprehension.iter_var.as_str(), comprehension.accu_var.as_str()]);
                self.bound.extend(comprehension.iter_var2.as_deref());
                self.check_all([&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result])?;
                self.bound.truncate(outside);
                Ok(())
            }
            Expr::Struct(message) => {
                Err(format!("there is no message type {:?}; only maps and lists", message.type_name))
            }
            Expr::Literal(_) | Expr::Unspecified => Ok(()),
        }
    }

    fn check_all(&mut self, expressions: impl IntoIterator<Item = &'a IdedExpr>) -> Result<(), String> {
        expressions.into_iter().try_for_each(|expression| self.check(expression))
    }

    fn check_entries(&mut self, entries: &'a [IdedEntryExpr]) -> Result<(), String> {
        entries.iter().try_for_each(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => self.check_all([&entry.key, &entry.value]),
            EntryExpr::StructField(field) => self.check(&field.value),
        })
    }

    fn check_variable(&self, name: &str) -> Result<(), String> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if self.bound.contains(&name) || self.variables.contains(&name) || TYPES.contains(&name) {
            return Ok(());
        }
        Err(format!("there is no variable {name:?} here; {}", suggestion::known(name, self.variables)))
    }
}

fn check_function(name: &str) -> Result<(), String> {
    // Names that begin with @ are the macros' own.
    if OPERATORS.contains(&name) || FUNCTIONS.contains(&name) || name.starts_with('@') {
        return Ok(());
    }
    Err(format!("there is no function {name:?}; {}", suggestion::known(name, &FUNCTIONS)))
}

#[cfg(test)]
mod tests {
    use super::super::Expression;

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(Expression::compile(text, &["results", "events"]).unwrap_err(), message);
    }

    #[test]
    fn unknown_names_are_refused() {
        check_refused(
            "result.all(r, true)",
            r#"there is no variable "result" here; did you mean "results"? known: results, events"#,
        );
        check_refused("events.all(e, e.x == f)", r#"there is no variable "f" here; known: results, events"#);
        check_refused("events.all(e, true) && e", r#"there is no variable "e" here; known: results, events"#);
        let functions =
            "known: bool, bytes, contains, double, dyn, endsWith, int, size, startsWith, string, type, uint";
        check_refused(
            "'a'.startWith('b')",
            &format!(r#"there is no function "startWith"; did you mean "startsWith"? {functions}"#),
        );
        check_refused("optional.none()", &format!(r#"there is no function "none"; {functions}"#));
        check_refused("Point{x: 1}.x == 1", r#"there is no message type "Point"; only maps and lists"#);
    }

    #[test]
    fn known_names_are_accepted() {
        for text in [
            "results.filter(r, r.attempts > 1).map(r, r.tool) == ['a']",
            "events.exists_one(e, has(e.call_id) && type(e.at_ns) == int && 'x' in [e.type])",
            "size(results) > 0 ? !(results[0].value in {'a': 1.5}) : -1 < 2 && 3 % 2 == 1",
        ] {
            Expression::compile(text, &["results", "events"]).unwrap();
        }
    }
}
