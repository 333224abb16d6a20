//! Which value a name stands for in version 1, and the rules of lambdas (V2).

use super::document::EntryId;
use super::reader::Reader;
use super::tree::{Binding, Children, NameId, Node, NodeId, Operation};
use super::wording::{listed, quoted};

/// The lambdas around the place that is read, and what each name means there.
#[derive(Default)]
pub(super) struct Scopes {
    lambdas: Vec<Lambda>,
    /// By name: the parameters in scope that have it, the innermost last.
    bound: Vec<Vec<Bound>>,
    /// By name: the lambdas of reduces whose accumulator has it and was not met yet, the innermost last.
    awaiting: Vec<Vec<usize>>,
}

struct Bound {
    lambda: usize,
    index: u32,
}

/// A lambda whose body is being read.
struct Lambda {
    params: Vec<(EntryId, NameId)>,
    is_referenced: Vec<bool>,
    /// The programs inside of it around the place that is read. Its rules do not reach into one.
    programs: usize,
    offences_before: usize,
    reduce: Option<Reduce>,
}

struct Reduce {
    node: NodeId,
    outer: Option<Binding>,
    accumulator: Option<NodeId>,
    /// Whether the first value with the accumulator's name, not counting nested lambdas and programs, is null.
    is_null: Option<bool>,
    /// The parameters of the function that is the lambda's body.
    direct: Option<Children>,
    is_item_direct: bool,
}

impl Scopes {
    /// Begins a lambda's body. `reduce` is set if it is the lambda of one.
    pub(super) fn enter(&mut self, reader: &mut Reader<'_>, params: Vec<(EntryId, NameId)>, reduce: Option<NodeId>) {
        let lambda = self.lambdas.len();
        let offences_before = reader.offences.count();
        let outer = params.first().and_then(|(_, name)| self.binding(*name));
        let is_referenced = vec![false; params.len()];
        for (index, (entry, name)) in params.iter().enumerate() {
            let bound = at(&mut self.bound, *name);
            if bound.last().is_some_and(|bound| bound.lambda == lambda) {
                reader.offend(*entry, || "this parameter is given twice; rename one".to_owned());
            }
            bound.push(Bound { lambda, index: u32::try_from(index).unwrap_or(u32::MAX) });
        }
        let accumulator = params.first().filter(|_| reduce.is_some());
        if let Some((_, name)) = accumulator {
            at(&mut self.awaiting, *name).push(lambda);
        }
        let reduce = reduce.map(|node| Reduce::new(node, outer));
        self.lambdas.push(Lambda { params, is_referenced, programs: 0, offences_before, reduce });
    }

    /// The parameters of the function that is the innermost lambda's body.
    pub(super) fn set_direct(&mut self, children: Children) {
        if let Some(reduce) = self.lambdas.last_mut().and_then(|lambda| lambda.reduce.as_mut()) {
            reduce.direct = Some(children);
        }
    }

    /// Begins a program. The rules of the lambda around it do not reach inside, its names do.
    pub(super) fn enter_program(&mut self) {
        if let Some(lambda) = self.lambdas.last_mut() {
            lambda.programs += 1;
        }
    }

    pub(super) fn leave_program(&mut self) {
        if let Some(lambda) = self.lambdas.last_mut() {
            lambda.programs -= 1;
        }
    }

    /// Meets a value, and returns what its name stands for.
    pub(super) fn meet(
        &mut self,
        reader: &mut Reader<'_>,
        entry: EntryId,
        node: NodeId,
        name: NameId,
        is_null: bool,
    ) -> Option<Binding> {
        for lambda in at(&mut self.awaiting, name).drain(..) {
            if let Some(reduce) = &mut self.lambdas[lambda].reduce {
                reduce.accumulator = Some(node);
            }
        }
        let binding = self.binding(name);
        if let Some(lambda) = self.lambdas.last_mut().filter(|lambda| lambda.programs == 0) {
            match binding {
                Some(Binding { levels: 0, index }) => lambda.refer(node, index, is_null),
                _ if is_null => reader.offences.add(entry, || {
                    let name = quoted(reader.names.text(name.0));
                    let params = listed(lambda.params.iter().map(|(_, param)| &**reader.names.text(param.0)));
                    format!(
                        "null stands for a parameter of the lambda, and {name} is no parameter of the lambda (its \
                         parameters: {params}); give it a value, or a parameter's name"
                    )
                }),
                _ => {}
            }
        }
        binding
    }

    /// Ends a lambda's body: its rules are checked, unless there is an offence inside that could mislead them.
    pub(super) fn leave(&mut self, reader: &mut Reader<'_>) {
        let Some(lambda) = self.lambdas.pop() else { return };
        for (_, name) in &lambda.params {
            at(&mut self.bound, *name).pop();
        }
        if let (Some(Reduce { accumulator: None, .. }), Some((_, name))) = (&lambda.reduce, lambda.params.first()) {
            at(&mut self.awaiting, *name).pop();
        }
        if reader.offences.count() == lambda.offences_before {
            lambda.check(reader);
        }
        let Some(Reduce { node, outer, accumulator: Some(accumulator), .. }) = lambda.reduce else { return };
        if let Node::HigherOrder { operation, .. } = &mut reader.nodes[node.0 as usize] {
            *operation = Operation::Reduce { accumulator, outer };
        }
    }

    fn binding(&self, name: NameId) -> Option<Binding> {
        let bound = self.bound.get(name.0 as usize)?.last()?;
        let levels = self.lambdas.len() - 1 - bound.lambda;
        Some(Binding { levels: u32::try_from(levels).unwrap_or(u32::MAX), index: bound.index })
    }
}

impl Reduce {
    fn new(node: NodeId, outer: Option<Binding>) -> Self {
        Self { node, outer, accumulator: None, is_null: None, direct: None, is_item_direct: false }
    }
}

impl Lambda {
    /// A value in the body has the name of the `index`th parameter.
    fn refer(&mut self, node: NodeId, index: u32, is_null: bool) {
        self.is_referenced[index as usize] = true;
        let Some(reduce) = &mut self.reduce else { return };
        match index {
            0 => {
                reduce.is_null.get_or_insert(is_null);
            }
            1 => {
                let is_direct =
                    |children: Children| children.first <= node.0 && node.0 < children.first + children.count;
                reduce.is_item_direct |= reduce.direct.is_some_and(is_direct);
            }
            _ => {}
        }
    }

    fn check(&self, reader: &mut Reader<'_>) {
        for ((entry, _), is_referenced) in self.params.iter().zip(&self.is_referenced) {
            if !is_referenced {
                reader.offend(*entry, || "no value in the lambda's body has this parameter's name".to_owned());
            }
        }
        let (Some(reduce), [(entry, _), (_, item)]) = (&self.reduce, &*self.params) else { return };
        if reduce.is_null == Some(true) && !reduce.is_item_direct {
            reader.offences.add(*entry, || {
                let item = quoted(reader.names.text(item.0));
                format!(
                    "the accumulator's value is null, but {item} is no direct parameter of the body; give it a value"
                )
            });
        }
    }
}

/// The list that belongs to a name.
fn at<T>(lists: &mut Vec<Vec<T>>, name: NameId) -> &mut Vec<T> {
    let place = name.0 as usize;
    if lists.len() <= place {
        lists.resize_with(place + 1, Vec::new);
    }
    &mut lists[place]
}

#[cfg(test)]
mod tests {
    use super::super::{Program, Tree};
    use super::*;

    fn value(name: &str, value: &str) -> String {
        format!(r#"{{"type": "value", "name": "{name}", "value": {value}}}"#)
    }

    fn higher_order(kind: &str, params: &str, body: &[String], iterable: &str) -> String {
        let body = body.join(", ");
        format!(
            r#"{{"type": "{kind}", "function": {{"params": [{params}], "body": {{"name": "f", "params": [{body}]}}}},
            "iterable": {iterable}}}"#
        )
    }

    fn nested_program(body: &str) -> String {
        format!(r#"{{"type": "program", "mode": "single", "body": [{body}]}}"#)
    }

    fn parse(node: &str) -> Result<Program, super::super::ProgramError> {
        Program::parse(&format!(r#"{{"mode": "single", "body": [{node}]}}"#), Program::BOUNDS)
    }

    #[track_caller]
    fn check_refused(node: &str, problems: &[&str]) {
        let refusal = parse(node).unwrap_err();
        let found: Vec<_> =
            refusal.offences().iter().map(|offence| format!("{}: {}", offence.path, offence.problem)).collect();
        assert_eq!(found, problems);
    }

    /// What every value stands for, by its path.
    fn bindings(tree: &Program) -> Vec<(String, Option<(u32, u32)>)> {
        let nodes = 0..u32::try_from(tree.node_count()).unwrap();
        let bound = nodes.map(NodeId).filter_map(|node| match tree.tree().node(node) {
            Node::Value { binding, .. } => {
                Some((tree.path_of(node).to_string(), binding.map(|binding| (binding.levels, binding.index))))
            }
            _ => None,
        });
        let mut bound: Vec<_> = bound.collect();
        bound.sort();
        bound
    }

    #[test]
    fn a_name_stands_for_the_innermost_parameter_around_it() {
        // The map's iterable sees the reduce's parameters and not its own; a nested program sees through.
        let inner = higher_order(
            "map",
            r#""x""#,
            &[value("x", "null"), value("acc", "1"), nested_program(&value("y", "1"))],
            &format!(r#"{{"type": "function", "name": "g", "params": [{}, {}]}}"#, value("x", "1"), value("acc", "1")),
        );
        let outer = higher_order(
            "reduce",
            r#""acc", "y""#,
            &[value("acc", "1"), value("y", "null"), inner],
            &value("acc", "1"),
        );
        let program = parse(&outer).unwrap();
        let found: Vec<_> = bindings(&program)
            .into_iter()
            .map(|(path, binding)| (path.replace("$.body[0].function.body.params", "~"), binding))
            .collect();
        assert_eq!(
            found,
            [
                ("~[0]".to_owned(), Some((0, 0))),
                ("~[1]".to_owned(), Some((0, 1))),
                ("~[2].function.body.params[0]".to_owned(), Some((0, 0))),
                ("~[2].function.body.params[1]".to_owned(), Some((1, 0))),
                ("~[2].function.body.params[2].body[0]".to_owned(), Some((1, 1))),
                ("~[2].iterable.params[0]".to_owned(), None),
                ("~[2].iterable.params[1]".to_owned(), Some((0, 0))),
                ("$.body[0].iterable".to_owned(), None),
            ]
        );
    }

    /// The paths of the accumulators of all reduces, with what their names stand for outside.
    fn accumulators(program: &Program) -> Vec<(String, Option<Binding>)> {
        let tree: &Tree = program.tree();
        let found = tree.nodes.iter().filter_map(|node| match node {
            Node::HigherOrder { operation: Operation::Reduce { accumulator, outer }, .. } => {
                Some((program.path_of(*accumulator).to_string(), *outer))
            }
            _ => None,
        });
        found.collect()
    }

    #[test]
    fn the_accumulator_is_the_first_value_of_its_name_in_all_of_the_body() {
        // It may stand in a lambda or a program inside, which the rules do not look into.
        let inner = higher_order("map", r#""z""#, &[value("z", "1"), value("acc", "2")], &value("acc", "3"));
        let nested = nested_program(&value("acc", "4"));
        for (first, path) in [(&inner, "[0].function.body.params[1]"), (&nested, "[0].body[0]")] {
            let body = [first.clone(), value("acc", "5"), value("x", "6")];
            let program = parse(&higher_order("reduce", r#""acc", "x""#, &body, &value("v", "[]"))).unwrap();
            assert_eq!(accumulators(&program), [(format!("$.body[0].function.body.params{path}"), None)]);
        }
    }

    #[test]
    fn the_accumulators_name_may_stand_for_something_outside() {
        let inner = higher_order("reduce", r#""acc", "x""#, &[value("acc", "1"), value("x", "1")], &value("v", "[]"));
        let body = [value("y", "null"), inner, value("acc", "1")];
        let program = parse(&higher_order("reduce", r#""y", "acc""#, &body, &value("v", "[]"))).unwrap();
        assert_eq!(
            accumulators(&program),
            [
                ("$.body[0].function.body.params[0]".to_owned(), None),
                (
                    "$.body[0].function.body.params[1].function.body.params[0]".to_owned(),
                    Some(Binding { levels: 0, index: 1 })
                ),
            ]
        );
    }

    #[test]
    fn every_parameter_is_referenced_outside_nested_lambdas_and_programs() {
        let problem = "$.body[0].function.params[0]: no value in the lambda's body has this parameter's name";
        let map = |body: &[String]| higher_order("map", r#""x""#, body, &value("v", "[]"));
        let x = value("x", "1");
        check_refused(&map(&[]), &[problem]);
        check_refused(&map(&[nested_program(&x)]), &[problem]);
        check_refused(&map(&[map(std::slice::from_ref(&x))]), &[problem]);
        let inner = higher_order("map", r#""y""#, &[value("y", "1")], &x);
        let function = format!(r#"{{"type": "function", "name": "g", "params": [{x}]}}"#);
        let conditional = format!(r#"{{"type": "conditional", "condition": {x}, "true_branch": {}}}"#, value("v", "1"));
        for body in [x, inner, function, conditional] {
            assert!(parse(&map(&[body])).is_ok());
        }
    }

    #[test]
    fn null_stands_for_a_parameter_of_the_lambda_right_around_it() {
        let problem = |path: &str, name: &str, params: &str| {
            format!(
                "$.body[0].function.body.params{path}: null stands for a parameter of the lambda, and \"{name}\" is no \
                 parameter of the lambda (its parameters: {params}); give it a value, or a parameter's name"
            )
        };
        let map = |param: &str, body: &[String]| higher_order("map", &format!("\"{param}\""), body, &value("v", "[]"));
        check_refused(&map("x", &[value("x", "null"), value("w", "null")]), &[&problem("[1]", "w", "\"x\"")]);
        let inner = map("y", &[value("y", "null"), value("x", "null")]);
        check_refused(&map("x", &[value("x", "1"), inner]), &[&problem("[1].function.body.params[1]", "x", "\"y\"")]);
        let reduce = higher_order(
            "reduce",
            &format!("\"acc\", \"{}\"", "n".repeat(70)),
            &[value("acc", "1"), value("w", "null"), value(&"n".repeat(70), "null")],
            &value("v", "[]"),
        );
        check_refused(&reduce, &[&problem("[1]", "w", &format!("\"acc\", \"{}…\"", "n".repeat(60)))]);
        assert!(parse(&map("x", &[value("x", "1"), nested_program(&value("w", "null"))])).is_ok());
        assert!(parse(&value("w", "null")).is_ok());
    }

    #[test]
    fn lambdas_take_what_their_operation_gives() {
        let body = [value("x", "1"), value("y", "1"), value("z", "1")];
        let check = |kind: &str, params: &str, problem: &str| {
            let problem = format!("$.body[0].function.params: the lambda of a {kind} takes {problem}");
            check_refused(&higher_order(kind, params, &body, &value("v", "[]")), &[&problem]);
        };
        check("map", "", "1 parameter, not 0");
        check("filter", r#""x", "y""#, "1 parameter, not 2");
        check("reduce", r#""x""#, "2 parameters, the accumulator and the item, not 1");
        check("reduce", r#""x", "y", "z""#, "2 parameters, the accumulator and the item, not 3");
        check_refused(
            &higher_order("reduce", r#""x", "x""#, &body, &value("v", "[]")),
            &["$.body[0].function.params[1]: this parameter is given twice; rename one"],
        );
    }

    #[test]
    fn a_null_accumulator_needs_its_item_beside_it() {
        let problem = "$.body[0].function.params[0]: the accumulator's value is null, but \"x\" is no direct parameter \
                       of the body; give it a value";
        let reduce = |body: &[String]| higher_order("reduce", r#""acc", "x""#, body, &value("v", "[]"));
        let wrapped = format!(r#"{{"type": "function", "name": "g", "params": [{}]}}"#, value("x", "null"));
        check_refused(&reduce(&[value("acc", "null"), wrapped.clone()]), &[problem]);
        check_refused(&reduce(&[wrapped.clone(), value("acc", "null"), value("acc", "1")]), &[problem]);
        assert!(parse(&reduce(&[value("acc", "1"), wrapped.clone(), value("acc", "null")])).is_ok());
        assert!(parse(&reduce(&[value("acc", "null"), wrapped, value("x", "1")])).is_ok());
    }
}
