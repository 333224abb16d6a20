//! What happened in the world outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::crashes::Place;

/// One attempt of a tool that came to its effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments.
    pub arguments: Arc<Value>,
    /// The idempotency key that the attempt carried.
    pub idempotency_key: Arc<str>,
    /// The call's id.
    pub call_id: Arc<str>,
    /// The key of the operation that made it.
    pub operation: Option<Arc<str>>,
    /// The activation that made it, from 1.
    pub activation: u64,
    /// When, since the case began.
    pub time: Duration,
    /// Whether the tool had had an effect with this key before.
    pub is_repeat: bool,
    /// Whether anything happened: a tool that knows idempotency keys does nothing for a repeat.
    pub has_happened: bool,
}

/// All effects, in order, and what tools that know idempotency keys answered.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    effects: Vec<Effect>,
    /// The tools and keys of all effects.
    seen: BTreeSet<(Arc<str>, Arc<str>)>,
    answers: BTreeMap<(Arc<str>, Arc<str>), Value>,
}

/// An attempt at its effect.
pub(super) struct Attempted<'a> {
    pub(super) tool: &'a Arc<str>,
    pub(super) arguments: &'a Arc<Value>,
    pub(super) idempotency_key: &'a Arc<str>,
    pub(super) call_id: &'a str,
    pub(super) place: &'a Place,
    pub(super) time: Duration,
    pub(super) is_idempotent: bool,
}

impl Ledger {
    /// Whether something happened.
    pub(super) fn add(&mut self, attempted: &Attempted<'_>) -> bool {
        let Attempted { tool, arguments, idempotency_key, call_id, place, time, is_idempotent } = *attempted;
        let is_repeat = !self.seen.insert((Arc::clone(tool), Arc::clone(idempotency_key)));
        let has_happened = !(is_repeat && is_idempotent);
        self.effects.push(Effect {
            tool: Arc::clone(tool),
            arguments: Arc::clone(arguments),
            idempotency_key: Arc::clone(idempotency_key),
            call_id: call_id.into(),
            operation: place.operation.clone(),
            activation: place.activation,
            time,
            is_repeat,
            has_happened,
        });
        has_happened
    }

    /// What the tool answers under this key: the same every time.
    pub(super) fn answer(&mut self, tool: &Arc<str>, idempotency_key: &Arc<str>, answer: Value) -> Value {
        self.answers.entry((Arc::clone(tool), Arc::clone(idempotency_key))).or_insert(answer).clone()
    }

    pub(super) fn effects(&self) -> &[Effect] {
        &self.effects
    }
}

/// How often each tool did something, and how often it was asked to do again what it had done.
pub(super) fn counts(effects: &[Effect], is_counted: impl Fn(&Effect) -> bool) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for effect in effects.iter().filter(|effect| is_counted(effect)) {
        *counts.entry(&*effect.tool).or_default() += 1;
    }
    counts
}

impl Effect {
    /// Finds out which operation made it.
    pub(super) fn take_place(&mut self, places: &BTreeMap<Arc<str>, Place>) {
        if let Some(Place { activation, operation }) = places.get(&self.idempotency_key) {
            self.activation = *activation;
            self.operation.clone_from(operation);
        }
    }

    /// The effect as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        json!({
            "tool": &*self.tool,
            "arguments": &*self.arguments,
            "idempotency_key": &*self.idempotency_key,
            "call_id": &*self.call_id,
            "operation": self.operation.as_deref(),
            "activation": self.activation,
            "at_ms": self.time.as_nanos() as f64 / 1e6,
            "repeat": self.is_repeat,
            "happened": self.has_happened,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_known_by_its_tool_and_key() {
        let mut ledger = Ledger::default();
        for (tool, key, is_idempotent) in
            [("pay", "a", false), ("pay", "a", false), ("pay", "b", true), ("pay", "b", true), ("ship", "a", true)]
        {
            ledger.add(&Attempted {
                tool: &tool.into(),
                arguments: &Arc::default(),
                idempotency_key: &key.into(),
                call_id: "c",
                place: &Place { activation: 1, operation: None },
                time: Duration::ZERO,
                is_idempotent,
            });
        }
        let seen: Vec<_> = ledger.effects().iter().map(|effect| (effect.is_repeat, effect.has_happened)).collect();
        assert_eq!(seen, [(false, true), (true, true), (false, true), (true, false), (false, true)]);
        assert_eq!(counts(ledger.effects(), |effect| effect.has_happened), [("pay", 3), ("ship", 1)].into());
        assert_eq!(counts(ledger.effects(), |effect| effect.is_repeat), [("pay", 2)].into());
        let (tool, key) = ("pay".into(), "a".into());
        assert_eq!(ledger.answer(&tool, &key, json!(1)), ledger.answer(&tool, &key, json!(2)));
    }
}
