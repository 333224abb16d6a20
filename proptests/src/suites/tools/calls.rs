//! Calls that return.

use futures_util::future::join_all;
use serde_json::Value;
use windtunnel_core::evaluator::ToolProvider;
use windtunnel_core::json::{Bounds, canonical, parse};

use super::ToolProviderSubject;
use super::trial::{Seen, Trial, demand, drawn, is_same};
use crate::strategies::{returning_tool_sessions, tool_sessions};
use crate::suites::Point;

pub(super) fn points<S: ToolProviderSubject>() -> Vec<Point<S>> {
    vec![
        drawn("arguments_arrive", "a tool gets the arguments that were given", tool_sessions, arrive),
        drawn("called_once", "a call calls its tool once", returning_tool_sessions, once),
        drawn("results", "a result is the tool's, as JSON that reads back the same", returning_tool_sessions, results),
        drawn("at_once", "calls at once each get their own result", returning_tool_sessions, at_once),
    ]
}

async fn arrive<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        let before = trial.service.calls().len();
        let _called = trial.call(number).await;
        let Some((tool, arguments)) = trial.made(number) else { continue };
        let arrived = trial.service.calls().split_off(before);
        let is_so = !arrived.is_empty() && arrived.iter().all(|call| call.0 == tool && is_same(&call.1, &arguments));
        demand(is_so, || format!("of a call of {tool:?} with {arguments} came {arrived:?}"))?;
    }
    Ok(())
}

async fn once<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        let before = trial.service.calls().len();
        let _called = trial.call(number).await;
        let calls = trial.service.calls().len() - before;
        demand(calls == 1, || format!("of call {number} came {calls} calls"))?;
    }
    Ok(())
}

async fn results<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    for number in trial.numbers() {
        let called = trial.call(number).await;
        demand(trial.is_due(number, &called), || format!("call {number} comes to {called:?}"))?;
        let Ok(value) = called else { continue };
        let read: Result<Value, _> = parse(&value.to_string(), Bounds::DEFAULT);
        let is_same = read.as_ref().is_ok_and(|read| canonical(read) == canonical(&value));
        demand(is_same, || format!("{value} is read back as {read:?}"))?;
    }
    Ok(())
}

async fn at_once<P: ToolProvider>(trial: &Trial<P>) -> Seen {
    // Each twice, in either order.
    let numbers: Vec<_> = trial.numbers().chain(trial.numbers().rev()).collect();
    let called = join_all(numbers.iter().map(|number| trial.call(*number))).await;
    for (number, called) in numbers.into_iter().zip(called) {
        demand(trial.is_due(number, &called), || format!("call {number} comes to {called:?}"))?;
    }
    Ok(())
}
