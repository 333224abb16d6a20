//! Calls inside calls (E10).

use std::time::Duration;

use futures_util::future::join_all;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use windtunnel_core::executor::{CallContext, RunError, ToolCall, ToolContext};
use windtunnel_core::tool::FunctionTool;
use windtunnel_proptests::cases::{Caps, Policies, ToolPolicy, run_limits};
use windtunnel_proptests::strategies::caps;

use crate::settings::family;
use windtunnel_proptests::properties::simulated::{self, Setup};

const KINDS: &[&str] = &["kind-0", "kind-1", "kind-2", "kind-3"];

/// One level of a chain of calls.
#[derive(Clone, Copy, Debug)]
struct Level {
    kind: usize,
    is_exclusive: bool,
}

fn tool_name(chain: usize, level: usize) -> String {
    format!("tool-{chain}-{level}")
}

/// Waits a little, then calls the next level, if there is one.
fn tool(chain: usize, depth: usize, levels: usize, level: Level) -> FunctionTool {
    let next = (depth + 1 < levels).then(|| tool_name(chain, depth + 1));
    let body = move |_: std::sync::Arc<Value>, context: ToolContext| {
        let next = next.clone();
        async move {
            context.env().sleep(Duration::from_millis(10)).await;
            match next {
                Some(next) => context.executor().run(&next, json!({})).await,
                None => Ok::<_, RunError>(json!("done")),
            }
        }
    };
    let tool = FunctionTool::json(tool_name(chain, depth), "Nests.", json!({"type": "object"}), body);
    let tool = tool.kind(KINDS[level.kind]);
    if level.is_exclusive { tool.exclusive() } else { tool }
}

fn check(chains: &[Vec<Level>], caps: &Caps) -> Result<(), TestCaseError> {
    let mut setup = Setup { limits: run_limits(None, caps), ..Setup::default() };
    let mut policies = Policies::new();
    for (number, chain) in chains.iter().enumerate() {
        for (depth, level) in chain.iter().enumerate() {
            setup = setup.with_tool(tool(number, depth, chain.len(), *level));
            let policy = ToolPolicy {
                kind: Some(KINDS[level.kind].to_owned()),
                is_exclusive: level.is_exclusive,
                ..ToolPolicy::default()
            };
            policies.insert(tool_name(number, depth), policy);
        }
    }
    // A world that gets stuck fails the test.
    let ran = simulated::run(setup, |executor| async move {
        let executor = executor.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
        let calls = (0..chains.len()).map(|number| executor.run_call(ToolCall::new(tool_name(number, 0), json!({}))));
        join_all(calls).await.into_iter().map(|result| result.unwrap().status()).collect::<Vec<_>>()
    })?;
    ran.check(&policies, &run_limits(None, caps))?;
    prop_assert_eq!(ran.output, vec!["ok"; chains.len()]);
    prop_assert_eq!(ran.entries.len(), chains.iter().map(Vec::len).sum::<usize>());
    Ok(())
}

fn chain() -> impl Strategy<Value = Vec<Level>> {
    let level = (0..KINDS.len(), prop::bool::weighted(0.3));
    vec(level.prop_map(|(kind, is_exclusive)| Level { kind, is_exclusive }), 1..=4)
}

proptest! {
    #![proptest_config(family!("nested"))]

    #[test]
    fn a_chain_never_waits_for_itself(chain in chain(), caps in caps(KINDS)) {
        check(&[chain], &caps)?;
    }

    #[test]
    fn chains_that_nest_kinds_in_one_direction_never_wait_for_each_other(
        mut chains in vec(chain(), 1..=4), caps in caps(KINDS),
    ) {
        for chain in &mut chains {
            chain.sort_by_key(|level| level.kind);
        }
        check(&chains, &caps)?;
    }
}
