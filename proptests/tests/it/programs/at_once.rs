//! One program, evaluated many times at once (V3): in one world, and on several threads.

use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::Config;
use windtunnel_core::evaluator::{Consumption, Evaluator};
use windtunnel_proptests::cases::{ProgramCase, ToolBehaviours};
use windtunnel_proptests::invariants::programs_finish_once;
use windtunnel_proptests::played::PlayedProvider;
use windtunnel_proptests::strategies::{programs, yielding_tools};
use windtunnel_sim::World;

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Turns, evaluate, evaluator, read, told};

const AT_ONCE: usize = 5;
const THREADS: usize = 3;

/// Without what depends on who comes first at the same instant.
fn used(consumption: Consumption) -> (u64, u64) {
    (consumption.nodes, consumption.tool_calls)
}

fn check_in_a_world(case: &ProgramCase, apart: Duration) -> Result<(), TestCaseError> {
    let lone = evaluate(case)?;
    if !lone.end.is_free_of_failures() {
        return Ok(());
    }
    let program = read(&case.program.to_json())?;
    let run = World::new(0).time_limit(Duration::MAX).run(|world| async move {
        let (evaluator, provider) = evaluator(case, &world, Turns::Written);
        let (evaluator, env) = (&evaluator, &world.env());
        let evaluations = (0..AT_ONCE as u32).map(|index| {
            let program = program.clone();
            async move {
                env.sleep(apart * index).await;
                let began = env.now();
                let evaluation = evaluator.evaluate(&program).await;
                (told(&evaluation), evaluation.consumption, env.now() - began)
            }
        });
        (join_all(evaluations).await, provider.attempts())
    });
    programs_finish_once(&run.trace)?;
    let (evaluations, attempts) = run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(attempts.len(), AT_ONCE * lone.attempts.len());
    let ids: std::collections::BTreeSet<_> = attempts.iter().map(|attempt| &attempt.call_id).collect();
    prop_assert_eq!(ids.len(), attempts.len(), "no two calls share an id");
    for (told, consumption, elapsed) in evaluations {
        prop_assert_eq!(&told, &lone.told);
        prop_assert_eq!(consumption, lone.consumption);
        prop_assert_eq!(elapsed, lone.elapsed);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "what threads do to each other is what this property is about")]
fn check_on_threads(case: &ProgramCase) -> Result<(), TestCaseError> {
    let lone = evaluate(case)?;
    if !lone.end.is_free_of_failures() {
        return Ok(());
    }
    let program = read(&case.program.to_json())?;
    let provider = PlayedProvider::new(windtunnel_core::env::Env::system(), case.tools.clone());
    let evaluator = Evaluator::new(provider.clone());
    let thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let evaluations = (0..AT_ONCE).map(|_| evaluator.evaluate(&program));
        runtime.block_on(join_all(evaluations))
    };
    let evaluations: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    prop_assert_eq!(provider.attempts().len(), THREADS * AT_ONCE * lone.attempts.len());
    for evaluation in evaluations {
        prop_assert_eq!(&told(&evaluation), &lone.told);
        prop_assert_eq!(used(evaluation.consumption), used(lone.consumption));
    }
    Ok(())
}

/// The tools without the time that they take: threads run on real time.
fn timeless(mut tools: ToolBehaviours) -> ToolBehaviours {
    for step in tools.scripts.values_mut().flatten().flat_map(|script| &mut script.steps) {
        step.takes = Duration::ZERO;
    }
    tools
}

fn config() -> Config {
    let config = family!("program-at-once");
    Config { cases: config.cases.div_ceil(2), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn evaluations_at_once_in_a_world_are_as_one_alone(program in programs(), tools in yielding_tools(), apart_ns in 0_u64..3_000_000) {
        let case = ProgramCase { tools, ..ProgramCase::plain(program) };
        check_in_a_world(&case, Duration::from_nanos(apart_ns))?;
    }

    #[test]
    fn evaluations_on_many_threads_are_as_one_alone(program in programs(), tools in yielding_tools()) {
        check_on_threads(&ProgramCase { tools: timeless(tools), ..ProgramCase::plain(program) })?;
    }
}
