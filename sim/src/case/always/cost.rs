//! How long an expression can take, and how large its values can become, at most.
//!
//! CEL always ends, but nested macros take time that grows with the power of their nesting, and `s + s` under chained
//! macros makes values that double each time. A case file may come from anywhere, so both are bounded before evaluation.

use std::collections::BTreeMap;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use serde_json::Value;

/// The most steps that one assertion may take: minutes at worst, since the estimate is an upper bound.
const STEPS_MAX: f64 = 5e8;
/// The largest value, in nodes and sixteens of bytes: some hundred megabytes at worst.
const SIZE_MAX: f64 = 4e6;

/// An upper bound of a value. A total counts nodes, and sixteenths of the bytes of strings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// The elements of the longest list or map in it.
    elements: f64,
    /// The total of its largest part: an element of a list, a member of a map.
    part: f64,
    /// The total of all of it.
    total: f64,
}

impl Size {
    const SCALAR: Self = Self { elements: 0.0, part: 0.0, total: 1.0 };

    /// The size of a JSON value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => text_size(text.len()),
            Value::Array(elements) => Self::of_parts(elements.iter().map(Self::of)),
            Value::Object(members) => {
                let mut size = Self::of_parts(members.values().map(Self::of));
                size.total += members.keys().map(|name| text_size(name.len()).total).sum::<f64>();
                size
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::SCALAR,
        }
    }

    /// A list or map of these parts.
    fn of_parts(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut whole, mut count) = (Self::SCALAR, 0.0);
        for part in parts {
            whole = Self {
                elements: whole.elements.max(part.elements),
                part: whole.part.max(part.total),
                total: whole.total + part.total,
            };
            count += 1.0;
        }
        Self { elements: whole.elements.max(count), ..whole }
    }

    /// The size of any part.
    fn of_part(self) -> Self {
        Self { total: self.part, ..self }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self {
            elements: self.elements.max(other.elements),
            part: self.part.max(other.part),
            total: self.total.max(other.total),
        }
    }
}

/// Refuses an expression that could take too long or too much memory when it is evaluated `times`.
pub(super) fn check(expression: &IdedExpr, sizes: &BTreeMap<&str, Size>, times: usize) -> Result<(), String> {
    let variables = sizes.iter().map(|(name, size)| (*name, *size)).collect();
    let mut estimate = Estimate { variables, steps: 0.0, largest: 0.0 };
    estimate.bound(expression);
    let steps = estimate.steps * times as f64;
    if steps > STEPS_MAX {
        return Err(format!("it could take {steps:.0e} steps; at most {STEPS_MAX:.0e} are allowed: nest fewer macros"));
    }
    if estimate.largest > SIZE_MAX {
        let largest = estimate.largest;
        return Err(format!("it could make a value of size {largest:.0e}; at most {SIZE_MAX:.0e} is allowed"));
    }
    Ok(())
}

struct Estimate<'a> {
    /// The variables in scope; the last of a name counts.
    variables: Vec<(&'a str, Size)>,
    steps: f64,
    largest: f64,
}

impl<'a> Estimate<'a> {
    fn bound(&mut self, expression: &'a IdedExpr) -> Size {
        self.steps += 1.0;
        let size = match &expression.expr {
            Expr::Literal(LiteralValue::String(text)) => text_size(text.inner().len()),
            Expr::Literal(LiteralValue::Bytes(bytes)) => text_size(bytes.inner().len()),
            Expr::Ident(name) => {
                let named = self.variables.iter().rev().find(|(known, _)| known == name);
                named.map_or(Size::SCALAR, |(_, size)| *size)
            }
            Expr::Select(select) => self.bound(&select.operand).of_part(),
            Expr::Call(call) => self.bound_call(call),
            Expr::List(list) => self.bound_parts(list.elements.iter()),
            Expr::Map(map) => self.bound_parts(map.entries.iter().flat_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                EntryExpr::StructField(field) => vec![&field.value],
            })),
            Expr::Comprehension(comprehension) => self.bound_comprehension(comprehension),
            Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => Size::SCALAR,
        };
        self.largest = self.largest.max(size.total);
        size
    }

    /// A list or map of parts, which are copied into it.
    fn bound_parts(&mut self, parts: impl Iterator<Item = &'a IdedExpr>) -> Size {
        let sizes: Vec<Size> = parts.map(|part| self.bound(part)).collect();
        let whole = Size::of_parts(sizes);
        self.steps += whole.total;
        whole
    }

    fn bound_call(&mut self, call: &'a CallExpr) -> Size {
        let sizes: Vec<Size> =
            call.target.as_deref().into_iter().chain(&call.args).map(|part| self.bound(part)).collect();
        let sum = sizes.iter().map(|size| size.total).sum::<f64>();
        match (call.func_name.as_str(), sizes.as_slice()) {
            (operators::ADD, [first, second]) => {
                self.steps += sum;
                Size { elements: first.elements + second.elements, total: sum, ..first.max(*second) }
            }
            (operators::CONDITIONAL, [_, first, second]) => first.max(*second),
            (operators::INDEX, [container, _]) => container.of_part(),
            (
                operators::EQUALS
                | operators::NOT_EQUALS
                | operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                [first, second],
            ) => {
                self.steps += first.total.min(second.total);
                Size::SCALAR
            }
            ("string" | "bytes" | "dyn", [only]) => {
                self.steps += only.total;
                Size { total: only.total + 2.0, ..*only }
            }
            (operators::IN | "contains" | "startsWith" | "endsWith" | "size", _) => {
                self.steps += sum;
                Size::SCALAR
            }
            _ => Size::SCALAR,
        }
    }

    /// The macros make lists by adding one element a round, and everything else is true, false or a count.
    fn bound_comprehension(&mut self, comprehension: &'a ComprehensionExpr) -> Size {
        let range = self.bound(&comprehension.iter_range);
        let initial = self.bound(&comprehension.accu_init);
        let (outside, steps_before) = (self.variables.len(), std::mem::take(&mut self.steps));
        self.variables.push((&comprehension.iter_var, range.of_part()));
        self.variables.push((&comprehension.accu_var, Size::default()));
        let step = self.bound(&comprehension.loop_step);
        self.bound(&comprehension.loop_cond);
        self.variables.truncate(outside);
        let rounds = range.elements;
        self.steps = steps_before + range.total + rounds * (self.steps + 1.0);
        Size { elements: rounds.max(step.elements), part: step.part, total: initial.total + rounds * step.total }
    }
}

fn text_size(bytes: usize) -> Size {
    Size { total: 1.0 + bytes as f64 / 16.0, ..Size::SCALAR }
}

/// How many operations are applied to one another.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(expression, 1)];
    while let Some((expression, depth)) = pending.pop() {
        deepest = deepest.max(depth);
        let mut push = |part| pending.push((part, depth + 1));
        match &expression.expr {
            Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).for_each(push),
            Expr::Select(select) => push(&select.operand),
            Expr::List(list) => list.elements.iter().for_each(push),
            Expr::Map(map) => map.entries.iter().for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => [&entry.key, &entry.value].into_iter().for_each(&mut push),
                EntryExpr::StructField(field) => push(&field.value),
            }),
            Expr::Struct(message) => message.entries.iter().for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => [&entry.key, &entry.value].into_iter().for_each(&mut push),
                EntryExpr::StructField(field) => push(&field.value),
            }),
            Expr::Comprehension(comprehension) => {
                let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = &**comprehension;
                [iter_range, accu_init, loop_cond, loop_step, result].into_iter().for_each(push);
            }
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case::always::Expression;

    #[track_caller]
    fn check_cost(text: &str, elements: usize, is_accepted: bool) {
        let list = Value::Array((0..elements).map(|index| json!({"type": "tool.retry", "at": index})).collect());
        let sizes = BTreeMap::from([("events", Size::of(&list))]);
        let cost = Expression::compile(text, &["events"]).unwrap().check_cost(&sizes, 1);
        assert_eq!(cost.is_ok(), is_accepted, "{cost:?}");
    }

    #[test]
    fn a_quadratic_look_at_a_thousand_events_is_accepted() {
        check_cost("events.all(a, events.all(b, a.at <= b.at || a.type == 'tool.retry'))", 1000, true);
    }

    #[test]
    fn time_that_grows_with_the_nesting_is_bounded() {
        check_cost(
            "events.all(a, events.all(b, events.all(c, events.all(d, a.at + b.at + c.at == d.at))))",
            1000,
            false,
        );
    }

    #[test]
    fn values_that_double_are_bounded() {
        let doubling = ".map(s, s + s)".repeat(40);
        check_cost(&format!("['abcdefgh']{doubling}.size() == 1"), 1, false);
        check_cost(&format!("[[1]]{}.size() == 1", ".map(s, [s, s])".repeat(40)), 1, false);
        check_cost("events.map(a, events.map(b, events)).size() > 0", 1000, false);
    }
}
