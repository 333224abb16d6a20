//! Map, filter and reduce: a lambda applied to the items of a list, one after another (V4).

use smallvec::smallvec;

use super::super::datum::{Datum, TooDeep};
use super::super::error::EvaluationError;
use super::super::syntax::{Node, NodeId, Operation};
use super::frame::{Frame, FrameId, State};
use super::interpreter::{Input, Machine, Step, Stepped};
use super::scope::Scope;

/// How far the items are.
#[derive(Debug)]
pub(super) struct Items {
    items: Datum,
    /// The item that comes next.
    next: usize,
    operation: Operation,
    /// The lambda's body.
    body: NodeId,
    /// What a map or filter has so far.
    results: Vec<Datum>,
    /// What a reduce has so far.
    accumulator: Datum,
}

impl<'p> Machine<'p> {
    pub(super) fn begin_items(&mut self, id: FrameId, items: Datum) -> Stepped {
        let Frame { node, depth, ref scope, .. } = *self.frames.get(id);
        let Node::HigherOrder { operation, parts } = self.tree.node(node) else { return Ok(Step::Wait) };
        let Some(list) = items.as_array() else { return Err(self.not_a_list(*operation, parts.get(1), &items)) };
        let (mut accumulator, mut next) = (Datum::Null, 0);
        if let Operation::Reduce { accumulator: initializer, outer } = operation {
            let Some(first) = list.first() else { return Ok(self.finish(id, Datum::Null)) };
            let bound = outer.and_then(|binding| scope.as_deref()?.get(binding)).cloned();
            accumulator = bound.or_else(|| self.constant(*initializer)).unwrap_or(Datum::Null);
            if accumulator == Datum::Null {
                (accumulator, next) = (Datum::element(first), 1);
            }
        }
        let lambda = parts.get(0);
        self.budget.use_node(u64::from(depth) + 1)?;
        let Node::Lambda { body, .. } = self.tree.node(lambda) else { return Ok(Step::Wait) };
        let items = Items { items, next, operation: *operation, body: *body, results: Vec::new(), accumulator };
        self.frames.get_mut(id).state = State::Items(Box::new(items));
        self.next_item(id)
    }

    fn constant(&self, node: NodeId) -> Option<Datum> {
        match self.tree.node(node) {
            Node::Value { value, .. } => Some(value.clone()),
            _ => None,
        }
    }

    fn not_a_list(&self, operation: Operation, iterable: NodeId, met: &Datum) -> Box<EvaluationError> {
        let name = match operation {
            Operation::Map => "map",
            Operation::Filter => "filter",
            Operation::Reduce { .. } => "reduce",
        };
        let problem = format!("{name} needs a list, and its iterable came to {}", met.type_name());
        Box::new(EvaluationError::Type { path: self.program.path_of(iterable), problem })
    }

    /// What the lambda made of an item.
    pub(super) fn take_item(&mut self, id: FrameId, datum: Datum) -> Stepped {
        if let State::Items(items) = &mut self.frames.get_mut(id).state {
            match items.operation {
                Operation::Map => items.results.push(datum),
                Operation::Filter if datum.is_true() => {
                    let item = items.items.as_array().and_then(|list| list.get(items.next - 1));
                    items.results.extend(item.map(Datum::element));
                }
                Operation::Filter => {}
                Operation::Reduce { .. } => items.accumulator = datum,
            }
        }
        self.next_item(id)
    }

    /// Applies the lambda to the next item, or ends.
    fn next_item(&mut self, id: FrameId) -> Stepped {
        let frame = self.frames.get_mut(id);
        let (depth, call_depth, scope) = (frame.depth, frame.call_depth, frame.scope.clone());
        let State::Items(items) = &mut frame.state else { return Ok(Step::Wait) };
        let Some(item) = items.items.as_array().and_then(|list| list.get(items.next)) else {
            let datum = match items.operation {
                Operation::Reduce { .. } => std::mem::replace(&mut items.accumulator, Datum::Null),
                _ => {
                    let results = std::mem::take(&mut items.results);
                    let node = frame.node;
                    self.charge(&results)?;
                    Datum::list(results).map_err(|TooDeep| self.too_deep(node))?
                }
            };
            return Ok(self.finish(id, datum));
        };
        let item = Datum::element(item);
        self.budget.use_bytes(item.bytes())?;
        items.next += 1;
        let values = match items.operation {
            Operation::Reduce { .. } => smallvec![std::mem::replace(&mut items.accumulator, Datum::Null), item],
            _ => smallvec![item],
        };
        // The lambda is one deeper than the operation, and its body one deeper than the lambda.
        let scope = Some(Scope::new(scope, values));
        let body = Frame { node: items.body, slot: 0, depth: depth + 2, call_depth, scope, state: State::Entering };
        Ok(Step::Next(self.frames.add(Some(id), body), Input::Enter))
    }
}
