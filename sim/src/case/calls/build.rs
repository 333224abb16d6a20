//! From typed fields to a case of calls, refusing what no run could make sense of.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Map, Value, json};
use windtunnel_core::executor::{Backoff, BackoffSettings, Decision, RunLimits, ToolCall};
use windtunnel_core::json::Path;
use windtunnel_core::tool::{CacheScope, Confirm, RegisterError, Registry, ToolSpec};

use super::definition::{CallsCase, CaseCall, CaseTool, VARIABLES};
use super::expectation::Expectation;
use super::wire::{
    WireApproval, WireBackoff, WireCacheScope, WireCall, WireCase, WireDecision, WireExpect, WireRandom, WireRunLimits,
    WireStep, WireTool,
};
use crate::case::LoadError;
use crate::case::build::{Built, Refusal, assertions, ending, parameters_and_schema, properties};
use crate::case::cassettes::{Library, ShelfBuilder};
use crate::case::script::{CaseStep, Random, ToolScript};
use crate::case::text::Document;
use crate::case::trouble::trouble;
use crate::case::typed::typed;
use crate::case::wire::Delay;
use crate::script::{Failure, ScriptedTool, Then};

/// The most attempts that a case can make. None of them need take time, so that the world could not stop them.
const ATTEMPTS_MAX: u64 = 500_000;

/// Builds a case.
pub(in crate::case) fn build(document: &Document<'_>, library: &Library) -> Result<Built, LoadError> {
    build_typed(typed(document)?, &document.root, library).map_err(|refusal| refusal.in_document(document))
}

fn build_typed(wire: WireCase, root: &Path, library: &Library) -> Result<Built, Refusal> {
    let at = |name: &str| root.clone().member(name);
    let trouble = trouble(wire.faults, wire.random_faults, wire.heal_after_s, root)?;
    check_calls(&wire.calls, wire.batch, &at("calls"))?;
    if let Some(expect) = &wire.expect {
        check_expect(expect, wire.calls.len(), &at("expect"))?;
    }
    let mut shelf = ShelfBuilder::new(library, wire.replay, at("replay"))?;
    let tools = tools(wire.tools, &at("tools"), &mut shelf)?;
    check_attempts(&wire.calls, &tools, &at("calls"))?;
    let backoff = backoff_settings(&wire.backoff);
    let kind = CallsCase {
        tools,
        shelf: shelf.finish()?,
        backoff: Backoff::new(backoff).map_err(|error| Refusal::new(at("backoff"), error.to_string()))?,
        jitters: backoff.jitter > 0.0,
        rng: wire.rng.map(|unit| unit.0),
        limits: limits(wire.run_limits),
        decisions: decisions(wire.approvals, wire.approval_port, &at("approvals"))?,
        calls: wire.calls.into_iter().map(call).collect(),
        is_batch: wire.batch,
        expectation: wire.expect.map(Expectation::from),
    };
    Ok(Built {
        id: wire.id,
        seed: wire.seed,
        trouble,
        assertions: assertions(wire.always, &VARIABLES, &at("always"))?,
        kind: Box::new(kind),
    })
}

fn check_calls(calls: &[WireCall], is_batch: bool, path: &Path) -> Result<(), Refusal> {
    let waits = |call: &WireCall| call.wait_ms.is_some_and(|wait| !wait.0.is_zero());
    match calls.iter().position(waits).filter(|_| is_batch) {
        None => Ok(()),
        Some(index) => {
            let path = path.clone().element(index).member("wait_ms");
            Err(Refusal::new(path, "a batch makes all calls at once; remove wait_ms, or batch"))
        }
    }
}

fn check_attempts(calls: &[WireCall], tools: &[CaseTool], path: &Path) -> Result<(), Refusal> {
    let specs = tools.iter().map(|tool| (tool.spec.name.as_str(), tool.spec.retries));
    let retries: BTreeMap<&str, u32> = specs.collect();
    let attempts: u64 = calls.iter().map(|call| 1 + u64::from(retries.get(&*call.name).copied().unwrap_or(0))).sum();
    if attempts <= ATTEMPTS_MAX {
        return Ok(());
    }
    let problem =
        format!("with their retries the calls could make {attempts} attempts; at most {ATTEMPTS_MAX} are allowed");
    Err(Refusal::new(path.clone(), problem))
}

fn check_expect(expect: &WireExpect, calls: usize, path: &Path) -> Result<(), Refusal> {
    let results = expect.results.as_ref().map_or(calls, Vec::len);
    if results == calls {
        return Ok(());
    }
    let problem = format!("{results} results for {calls} calls; give one for each call, {{}} for one of no interest");
    Err(Refusal::new(path.clone().member("results"), problem))
}

pub(in crate::case) fn backoff_settings(wire: &WireBackoff) -> BackoffSettings {
    let default = BackoffSettings::default();
    BackoffSettings {
        base_s: wire.base_s.unwrap_or(default.base_s),
        max_s: wire.max_s.unwrap_or(default.max_s),
        multiplier: wire.multiplier.unwrap_or(default.multiplier),
        jitter: wire.jitter.unwrap_or(default.jitter),
    }
}

pub(in crate::case) fn limits(wire: WireRunLimits) -> RunLimits {
    let per_kind: BTreeMap<String, NonZeroU32> = wire.per_kind.into_iter().map(|(kind, cap)| (kind, cap.0)).collect();
    RunLimits { calls_max: wire.max_calls, per_kind }
}

fn call(wire: WireCall) -> CaseCall {
    let call = ToolCall { id: wire.id.unwrap_or_default(), name: wire.name, arguments: wire.arguments };
    CaseCall { call, wait: wire.wait_ms.map_or(Duration::ZERO, |wait| wait.0) }
}

pub(in crate::case) fn tools(
    wire: Vec<WireTool>,
    path: &Path,
    shelf: &mut ShelfBuilder<'_>,
) -> Result<Vec<CaseTool>, Refusal> {
    // The executor's own checks, with the place of what they refuse.
    let mut registry = Registry::new();
    let mut tools = Vec::new();
    for (index, wire) in wire.into_iter().enumerate() {
        let tool = tool(wire, &path.clone().element(index), shelf)?;
        registry.register(ScriptedTool::new(tool.spec.clone(), [])).map_err(|error| {
            let member = match error {
                RegisterError::EmptyName | RegisterError::DuplicateName { .. } => "name",
                RegisterError::InvalidSchema { .. } => "schema",
            };
            Refusal::new(path.clone().element(index).member(member), error.to_string())
        })?;
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(wire: WireTool, path: &Path, shelf: &mut ShelfBuilder<'_>) -> Result<CaseTool, Refusal> {
    let scripted = [("script", !wire.script.is_empty()), ("random", wire.random.is_some())];
    let cassette = wire.cassette.as_deref();
    let cassette = cassette.map(|file| shelf.tool_without(&scripted, file, &wire.name, path)).transpose()?;
    // What the cassette says of it holds where the file says nothing.
    let offered = cassette.and_then(|cassette| shelf.offered(cassette, &wire.name));
    let parameters = match (wire.parameters, wire.schema, offered) {
        (Some(_), Some(_), _) => return Err(parameters_and_schema(path)),
        (Some(parameters), None, _) => object_schema(properties(&parameters)),
        (None, Some(schema), _) => schema,
        (None, None, Some((_, parameters))) => parameters.clone(),
        (None, None, None) if cassette.is_some() => json!({"type": "object"}),
        (None, None, None) => object_schema(Map::new()),
    };
    let description = wire.description.or_else(|| offered.map(|(description, _)| description.to_owned()));
    let script = script(wire.script, wire.random, path)?;
    let defaults = ToolSpec::new(wire.name, description.unwrap_or_default(), parameters);
    let spec = ToolSpec {
        retries: wire.retries.0,
        timeout: wire.timeout_s.map(|timeout| timeout.0),
        kind: wire.kind.unwrap_or_else(|| defaults.kind.clone()),
        parallel_safe: wire.parallel_safe,
        once_per_run: wire.once_per_run,
        confirm: if wire.confirm { Confirm::Always } else { Confirm::Never },
        cache_ttl: wire.cache_ttl_s.map(|ttl| ttl.0),
        cache_scope: match wire.cache_scope {
            WireCacheScope::Run => CacheScope::Run,
            WireCacheScope::Global => CacheScope::Global,
        },
        ..defaults
    };
    Ok(CaseTool { spec, script, cassette })
}

/// All properties are required, and no others are allowed.
fn object_schema(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
}

fn script(steps: Vec<WireStep>, random: Option<WireRandom>, tool: &Path) -> Result<ToolScript<Failure>, Refusal> {
    let step = |(index, WireStep { delay_ms, fail, ok }): (usize, WireStep)| {
        let path = tool.clone().member("script").element(index);
        Ok(CaseStep { delay: delay_ms, then: ending(fail.map(Then::from), ok, &path)? })
    };
    let steps = steps.into_iter().enumerate().map(step).collect::<Result<_, _>>()?;
    let refuse = |problem| Refusal::new(tool.clone().member("random").member("fail"), problem);
    let random = random.map(|wire| Random::new(wire.fail.endings(), wire.delay_ms).map_err(refuse)).transpose()?;
    Ok(ToolScript { steps, random, delay: Delay::default() })
}

fn decisions(wire: Vec<WireApproval>, port: Option<bool>, path: &Path) -> Result<Option<Vec<Decision>>, Refusal> {
    let has_port = port.unwrap_or(!wire.is_empty());
    let decision = |(index, wire): (usize, WireApproval)| {
        let at = |name: &str| path.clone().element(index).member(name);
        match wire {
            WireApproval { decision, reason: Some(_), .. } if decision != WireDecision::Deny => {
                Err(Refusal::new(at("reason"), "only a denial has a reason"))
            }
            WireApproval { decision, edited_arguments: Some(_), .. } if decision != WireDecision::Approve => {
                Err(Refusal::new(at("edited_arguments"), "only an approval can edit the arguments"))
            }
            WireApproval { decision: WireDecision::Approve, edited_arguments, .. } => {
                Ok(Decision::Approve { edited_arguments })
            }
            WireApproval { decision: WireDecision::Deny, reason, .. } => {
                Ok(Decision::deny(reason.unwrap_or_else(|| "denied".to_owned())))
            }
            WireApproval { decision: WireDecision::Pending, .. } => Ok(Decision::Pending),
        }
    };
    let decisions = wire.into_iter().enumerate().map(decision).collect::<Result<Vec<_>, _>>()?;
    Ok(has_port.then_some(decisions))
}
