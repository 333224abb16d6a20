//! Our durable agents, as case files: random conversations, with and without hosts, over crashes and faults.

use proptest::prelude::*;
use serde_json::{Value, json};
use windtunnel_proptests::worlds::CaseWorld;
use windtunnel_sim::fault::FaultKind;

/// Agents whose bank knows idempotency keys, or does not.
#[derive(Debug)]
pub(crate) struct Agents {
    pub(crate) is_on_hosts: bool,
    pub(crate) bank_knows_keys: bool,
}

/// What the model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentOperation {
    /// Another call in this turn.
    Pay { amount: u16 },
    /// Another call in this turn, of a tool that may do the same again.
    Look,
    /// What comes next is another turn.
    EndTurn,
}

/// Faults that change what the model says change what the agent does, and that is not what is held here.
const OTHERWISE: [FaultKind; 3] = [FaultKind::ModelMalformedJson, FaultKind::ModelRefusal, FaultKind::ModelWrongTool];

impl Agents {
    fn kinds(&self) -> Vec<&'static str> {
        let is_of_case = |name: &str| match name.split_once('.') {
            Some(("tool" | "model" | "journal", _)) => true,
            Some(("disk", _)) => false,
            _ => self.is_on_hosts,
        };
        let all = FaultKind::ALL.into_iter().filter(|kind| !OTHERWISE.contains(kind));
        all.map(FaultKind::name).filter(|name| is_of_case(name)).collect()
    }

    fn turns(operations: &[&AgentOperation]) -> Vec<Vec<Value>> {
        let mut turns = vec![Vec::new()];
        for (place, operation) in operations.iter().enumerate() {
            let id = format!("c{place}");
            match (operation, turns.last_mut()) {
                (AgentOperation::Pay { amount }, Some(turn)) => {
                    turn.push(json!({"id": id, "name": "pay", "arguments": {"amount": amount}}));
                }
                (AgentOperation::Look, Some(turn)) => turn.push(json!({"id": id, "name": "look", "arguments": {}})),
                _ => turns.push(Vec::new()),
            }
        }
        turns.retain(|turn| !turn.is_empty());
        turns
    }

    /// What holds whatever goes wrong.
    fn always(turns: usize, calls: usize, paid: usize) -> Value {
        let once = "effects.all(e, effects.filter(o, o.tool == 'pay' && o.happened && o.idempotency_key == \
                    e.idempotency_key).size() <= 1)";
        let apart =
            "effects.all(e, effects.all(o, (o.call_id == e.call_id) == (o.idempotency_key == e.idempotency_key)))";
        // Each of them costs an attempt, beside the one that ends its activation.
        let poisoned = "events.filter(e, e.type == 'operation.committed' && e.data.status != 'acknowledged').size() + \
                        size(activations) <= events.filter(e, e.type == 'activation.started').size()";
        let end = format!(
            "outcome.status == 'completed' && outcome.end == 'answer' && outcome.answer == 'Done.' && outcome.turns == \
             {turns} && outcome.calls == {calls}"
        );
        json!([
            {"name": "under one key it is paid once", "that": once},
            {"name": "no more is paid than was asked for", "that":
                format!("effects.filter(e, e.tool == 'pay' && e.happened).size() <= {paid}")},
            {"name": "calls have keys of their own", "that": apart},
            {"name": "a commit that nobody acknowledged ends its attempt", "that": poisoned},
            {"name": "the agent does what the model says", "that": end},
            {"name": "each call has one record", "that":
                format!("journal.filter(r, r.key.startsWith('tool:')).size() == {calls}")},
            {"name": "each turn has one record", "that":
                format!("journal.filter(r, r.key.startsWith('model:')).size() == {turns}")},
        ])
    }
}

impl CaseWorld for Agents {
    type Operation = AgentOperation;

    fn operations(&self) -> BoxedStrategy<AgentOperation> {
        prop_oneof![
            3 => (1_u16..1000).prop_map(|amount| AgentOperation::Pay { amount }),
            2 => Just(AgentOperation::Look),
            2 => Just(AgentOperation::EndTurn),
        ]
        .boxed()
    }

    fn case_file(&self, operations: &[&AgentOperation]) -> Value {
        let turns = Self::turns(operations);
        let calls: usize = turns.iter().map(Vec::len).sum();
        let paid = turns.iter().flatten().filter(|call| call["name"] == "pay").count();
        let always = Self::always(turns.len() + 1, calls, paid);
        let model: Vec<_> = turns.iter().map(|calls| json!({"calls": calls, "delay_ms": 500})).collect();
        let mut model = json!({"turns": model});
        if let Some(turns) = model["turns"].as_array_mut() {
            turns.push(json!({"says": "Done."}));
        }
        let mut case = json!({
            "id": "an-agent-pays",
            "prompt": "Pay.",
            "model": model,
            "tools": [
                {"name": "pay", "parameters": {"amount": "integer"}, "retries": 2, "timeout_s": 5,
                 "idempotent": self.bank_knows_keys},
                {"name": "look", "retries": 1, "timeout_s": 5},
            ],
            "budget": {"turns_max": 64, "calls_max": 64},
            "workers": {"failures_max": 40},
            "random_faults": {"kinds": self.kinds(), "rate": 0.01, "max": 5},
            "heal_after_s": 600,
            "always": always,
        });
        if let Some(case) = case.as_object_mut() {
            if self.is_on_hosts {
                case.insert("on_hosts".to_owned(), json!(true));
            } else {
                case.insert("crash_rate".to_owned(), json!(0.02));
            }
        }
        case
    }
}
