//! What is on offer.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use windtunnel_core::evaluator::{ErrorKind, ProviderError, ToolDefinition, ToolProvider};

use super::ToolProviderSubject;
use super::trial::{Seen, Trial, demand, drawn, is_same};
use crate::strategies::{returning_tool_sessions, tool_sessions};
use crate::suites::Point;

pub(super) fn points<S: ToolProviderSubject>() -> Vec<Point<S>> {
    vec![
        drawn("listing_whole", "every tool is listed, and no other", tool_sessions, whole),
        drawn("listing_unique", "no two tools of a list have one name", tool_sessions, unique),
        drawn("listing_stable", "a list is the same again, also after calls", tool_sessions, stable),
        drawn("definition", "the definition of a tool is the one that is listed", tool_sessions, definition),
        drawn("schemas", "a schema takes what its tool takes, and nothing else", tool_sessions, schemas),
        drawn("listed_is_callable", "what is listed can be called", returning_tool_sessions, callable),
        drawn("unknown_tool", "what is not listed is not found, and calls nothing", tool_sessions, unknown),
    ]
}

type Listed = Result<Vec<Arc<ToolDefinition>>, String>;

async fn list<P: ToolProvider>(trial: &Trial<P>) -> Listed {
    trial.provider.list().await.map_err(|error| format!("its tools cannot be listed: {error}"))
}

fn names(listed: &[Arc<ToolDefinition>]) -> Vec<&str> {
    listed.iter().map(|definition| definition.name()).collect()
}

async fn whole<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    let listed = list(trial).await?;
    let listed: BTreeSet<_> = names(&listed).into_iter().collect();
    let due = trial.tools().iter().map(|tool| tool.name.as_str()).collect();
    demand(listed == due, || format!("listed are {listed:?}"))
}

async fn unique<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    let listed = list(trial).await?;
    let different: BTreeSet<_> = names(&listed).into_iter().collect();
    demand(different.len() == listed.len(), || format!("listed are {:?}", names(&listed)))
}

/// Whether two definitions say the same.
fn is_equal(one: &ToolDefinition, other: &ToolDefinition) -> bool {
    one.name() == other.name()
        && one.description() == other.description()
        && is_same(one.input_schema(), other.input_schema())
}

async fn stable<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    let first = list(trial).await?;
    for number in trial.numbers() {
        let again = list(trial).await?;
        let is_same = first.len() == again.len() && first.iter().zip(&again).all(|(one, other)| is_equal(one, other));
        demand(is_same, || format!("listed are {first:?}, and then {again:?}"))?;
        let _called = trial.call(number).await;
    }
    Ok(())
}

async fn definition<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for listed in list(trial).await? {
        let defined = trial.provider.definition(listed.name()).await;
        let defined =
            defined.map_err(|error| format!("{:?} is listed and has no definition: {error}", listed.name()))?;
        demand(is_equal(&listed, &defined), || format!("{listed:?} is listed, and defined is {defined:?}"))?;
    }
    Ok(())
}

async fn schemas<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    let listed = list(trial).await?;
    let definition = |name: &str| listed.iter().find(|definition| definition.name() == name);
    for number in trial.numbers() {
        let Some((tool, arguments)) = trial.made(number) else { continue };
        let Some(definition) = definition(&tool) else { continue };
        let checked = definition.check(&arguments);
        demand(checked.is_ok(), || format!("the schema of {tool:?} does not take {arguments}: {checked:?}"))?;
    }
    for tool in trial.tools() {
        let Some(definition) = definition(&tool.name) else { continue };
        for arguments in tool.bad_arguments() {
            let is_refused = definition.check(&arguments).is_err();
            demand(is_refused, || format!("the schema of {:?} takes {arguments}", tool.name))?;
        }
    }
    Ok(())
}

async fn callable<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for definition in list(trial).await? {
        let known =
            trial.numbers().find(|number| trial.made(*number).is_some_and(|(tool, _)| tool == definition.name()));
        let number = known.unwrap_or(trial.numbers().end);
        let called = trial.call_with(definition.name(), json!({"call": number}), number).await;
        demand(called.is_ok(), || format!("{:?} is listed, and a call of it comes to {called:?}", definition.name()))?;
    }
    Ok(())
}

async fn unknown<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    let is_missing = |error: &ProviderError| match error {
        ProviderError::Failed(failure) => failure.kind() == ErrorKind::ToolNotFound,
        ProviderError::Interrupted(_) => false,
    };
    for name in ["unknown", "searc", "SEARCH", ""] {
        let defined = trial.provider.definition(name).await;
        let is_so = defined.as_ref().is_err_and(is_missing);
        demand(is_so, || format!("the definition of {name:?} is {defined:?}"))?;
        let called = trial.call_with(name, json!({"call": 0}), 0).await;
        let is_so = called.as_ref().is_err_and(is_missing);
        demand(is_so, || format!("a call of {name:?} comes to {called:?}"))?;
    }
    let calls = trial.service.calls();
    demand(calls.is_empty(), || format!("these were called: {calls:?}"))
}
