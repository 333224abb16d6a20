//! What a program in a case file may use, whatever it says: it may come from anywhere, and never end by itself.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::evaluator::{
    Consumption, ExecutionLimits, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider,
};

/// The most evaluations of nodes.
pub(super) const NODES_MAX: u64 = 5_000_000;
/// The most attempts of tools. None of them need take time, so that the world could not stop them.
pub(super) const TOOL_CALLS_MAX: u64 = 500_000;
/// About how many bytes of values are copied: one large value can be named many times.
pub(super) const BYTES_MAX: u64 = VOLUME_MAX;
/// How much all arguments and answers of tools may hold: bytes of text, and as much as a value takes for each value.
const VOLUME_MAX: u64 = 256 * 1024 * 1024;
/// How deep an argument or an answer may nest.
const NESTING_MAX: usize = 128;

/// The case's limits, with the bounds where it has none.
pub(super) fn bounded(limits: &ExecutionLimits) -> ExecutionLimits {
    ExecutionLimits {
        max_nodes: limits.max_nodes.or(NonZeroU64::new(NODES_MAX)),
        max_tool_calls: limits.max_tool_calls.or(NonZeroU64::new(TOOL_CALLS_MAX)),
        max_bytes: limits.max_bytes.or(NonZeroU64::new(BYTES_MAX)),
        ..*limits
    }
}

/// Which bound was crossed, where the case has no limit of its own.
pub(super) fn crossed(limits: &ExecutionLimits, used: Consumption) -> Option<String> {
    if limits.max_nodes.is_none() && used.nodes > NODES_MAX {
        return Some(format!("it evaluated over {NODES_MAX} nodes, the most in a case file; set limits.max_nodes"));
    }
    if limits.max_tool_calls.is_none() && used.tool_calls > TOOL_CALLS_MAX {
        return Some(format!(
            "it made over {TOOL_CALLS_MAX} tool calls, the most in a case file; set limits.max_tool_calls"
        ));
    }
    if limits.max_bytes.is_none() && used.bytes > BYTES_MAX {
        return Some(format!(
            "it copied over {BYTES_MAX} bytes of values, the most in a case file; set limits.max_bytes"
        ));
    }
    None
}

/// Passes calls on until their arguments and answers are too large, alone or together.
pub(super) struct BoundedProvider<P> {
    inner: P,
    volume: AtomicU64,
    /// Why the first call was not passed on.
    cut_off: Arc<Mutex<Option<String>>>,
}

impl<P> BoundedProvider<P> {
    pub(super) fn new(inner: P, cut_off: Arc<Mutex<Option<String>>>) -> Self {
        Self { inner, volume: AtomicU64::new(0), cut_off }
    }

    fn admit(&self, value: &Value) -> Result<(), ToolFailure> {
        let problem = match volume_of(value) {
            None => format!("a tool was given or gave a value nested deeper than {NESTING_MAX} levels"),
            Some(volume) if self.volume.fetch_add(volume, Ordering::Relaxed) + volume > VOLUME_MAX => {
                format!("tools were given and gave more than {VOLUME_MAX} bytes")
            }
            Some(_) => return Ok(()),
        };
        self.cut_off.lock().get_or_insert_with(|| problem.clone());
        Err(ToolFailure::refused(problem))
    }
}

impl<P: ToolProvider> ToolProvider for BoundedProvider<P> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.inner.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.inner.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            self.admit(&call.arguments)?;
            let answer = self.inner.call(call).await?;
            self.admit(&answer)?;
            Ok(answer)
        })
    }

    fn needs_places(&self) -> bool {
        self.inner.needs_places()
    }
}

/// What a value takes in memory, roughly; `None` if it nests too deep.
fn volume_of(value: &Value) -> Option<u64> {
    let mut volume = 0;
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if depth > NESTING_MAX {
            return None;
        }
        volume += size_of::<Value>();
        match value {
            Value::String(text) => volume += text.len(),
            Value::Array(elements) => pending.extend(elements.iter().map(|element| (element, depth + 1))),
            Value::Object(members) => {
                for (name, member) in members {
                    volume += size_of::<String>() + name.len();
                    pending.push((member, depth + 1));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Some(volume as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case::{Case, Format};

    #[track_caller]
    fn check_cut_off(case: Value, problem: &str) {
        let case = Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0);
        let run = case.run(0);
        assert_eq!(run.problem().as_deref(), Some(problem));
        assert!(!case.judge(&run).passed());
    }

    fn endless(argument: Value) -> Value {
        let call = json!({"type": "call", "function": "f", "arguments": [argument]});
        let start = json!({"type": "call", "function": "f", "arguments": [{"type": "literal", "value": 1}]});
        json!({
            "schema_version": "2.0", "body": [start], "definitions": [{"name": "f", "params": ["n"], "body": call}],
        })
    }

    fn pair_of(left: Value, right: Value) -> Value {
        json!({"type": "tool_call", "tool": "pair", "arguments": {"left": left, "right": right}})
    }

    #[test]
    fn a_program_that_never_ends_is_cut_off() {
        let variable = json!({"type": "variable", "name": "n"});
        check_cut_off(
            json!({"tools": [], "program": endless(variable.clone())}),
            "it evaluated over 5000000 nodes, the most in a case file; set limits.max_nodes",
        );
        let tools = json!([{"name": "pair", "fn": "pair"}]);
        let deeper = pair_of(variable.clone(), json!({"type": "literal", "value": null}));
        check_cut_off(
            json!({"tools": tools, "program": endless(deeper)}),
            "a tool was given or gave a value nested deeper than 128 levels",
        );
        check_cut_off(
            json!({"tools": tools, "program": endless(pair_of(variable.clone(), variable))}),
            "tools were given and gave more than 268435456 bytes",
        );
    }

    #[test]
    fn attempts_that_take_no_time_are_bounded() {
        let body = json!([{"type": "tool_call", "tool": "a", "arguments": {}}]);
        check_cut_off(
            json!({
                "tools": [{"name": "a", "random": {"fail": {"timeout": 1}}}],
                "program": {"schema_version": "2.0", "body": body},
                "policy": {"retry": {"max_attempts": 4_000_000_000_u32, "idempotent_tools": ["a"]}},
            }),
            "it made over 500000 tool calls, the most in a case file; set limits.max_tool_calls",
        );
    }

    #[test]
    fn a_limit_of_the_cases_own_is_an_end() {
        let case = json!({
            "tools": [], "program": endless(json!({"type": "variable", "name": "n"})), "limits": {"max_nodes": 5_000_000},
            "expect": {"error": {"kind": "execution-limit", "resource": "nodes", "limit": 5_000_000}},
        });
        let case = Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0);
        assert!(case.judge(&case.run(0)).passed());
    }

    #[test]
    fn the_volume_of_a_value_counts_all_of_it() {
        let value = size_of::<Value>() as u64;
        assert_eq!(volume_of(&json!(1)), Some(value));
        assert_eq!(volume_of(&json!(["ab", null])), Some(3 * value + 2));
        assert_eq!(volume_of(&json!({"ab": 1})), Some(2 * value + size_of::<String>() as u64 + 2));
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(volume_of(&nested(128)).is_some() && volume_of(&nested(129)).is_none());
    }
}
