//! The places of calls: the same in every evaluation with the same answers, however long each of them takes and whoever
//! takes its turn first.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::evaluator::{
    Evaluator, ExecutionLimits, ExecutionPolicy, ParallelFailures, ProviderCall, ProviderError, ToolDefinition,
    ToolProvider,
};
use windtunnel_proptests::cases::{AttemptEnding, AttemptScript, AttemptStep, Keying, ProgramCase, ToolBehaviours};
use windtunnel_proptests::models::ProgramEnd;
use windtunnel_proptests::played::PlayedProvider;
use windtunnel_proptests::strategies::{failing_tools, programs, retry_policies};
use windtunnel_sim::World;

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Turns, read};

/// A provider that asks for places, and notes what stands where.
#[derive(Clone)]
pub(crate) struct Placed<P> {
    pub(crate) inner: P,
    pub(crate) calls: Arc<Mutex<Vec<PlacedCall>>>,
}

/// The place, and what is called there with which arguments.
pub(crate) type PlacedCall = (Arc<str>, String);

impl<P: ToolProvider> ToolProvider for Placed<P> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.inner.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.inner.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let place = call.place.clone().expect("places were asked for");
        self.calls.lock().push((place, format!("{} {} #{}", call.tool, call.arguments, call.attempt)));
        self.inner.call(call)
    }

    fn needs_places(&self) -> bool {
        true
    }
}

/// How an evaluation ends, and its calls.
fn evaluate(case: &ProgramCase, turns: Turns) -> Result<(ProgramEnd, Vec<PlacedCall>), TestCaseError> {
    let program = read(&case.program.to_json())?;
    let seed = if let Turns::Drawn(seed) = turns { seed } else { 0 };
    let run = World::new(seed).time_limit(Duration::MAX).run(|world| async move {
        let calls = Arc::default();
        let provider =
            Placed { inner: PlayedProvider::new(world.env(), case.tools.clone()), calls: Arc::clone(&calls) };
        let evaluator = Evaluator::new(provider).env(world.env()).limits(case.limits).policy(case.policy.clone());
        let evaluator = if turns == Turns::Written { evaluator } else { evaluator.shuffle_siblings() };
        let end = ProgramEnd::of(&evaluator.evaluate(&program).await);
        let calls = calls.lock().clone();
        (end, calls)
    });
    run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))
}

/// The same endings, after other times.
fn delayed(tools: &ToolBehaviours, delays: &[(u8, u16)]) -> ToolBehaviours {
    let mut delays = delays.iter().cycle();
    let mut step = |step: &AttemptStep| {
        let (yields, takes_ms) = *delays.next().unwrap_or(&(0, 0));
        AttemptStep { yields, takes: Duration::from_millis(takes_ms.into()), ending: step.ending }
    };
    let mut script = |script: &AttemptScript| AttemptScript { steps: script.steps.iter().map(&mut step).collect() };
    let scripts = tools.scripts.iter().map(|(tool, scripts)| (*tool, scripts.iter().map(&mut script).collect()));
    ToolBehaviours { keying: tools.keying, scripts: scripts.collect() }
}

/// Each tool with two scripts at least, so that arguments make a difference, and none that ends with control flow.
pub(crate) fn answering_tools() -> impl Strategy<Value = ToolBehaviours> {
    failing_tools().prop_map(|mut tools| {
        tools.keying = Keying::Arguments;
        for tool in windtunnel_proptests::cases::ProgramTool::ALL {
            tools.scripts.entry(tool).or_default().push(AttemptScript { steps: vec![AttemptStep::VALUE] });
        }
        for step in tools.scripts.values_mut().flatten().flat_map(|script| &mut script.steps) {
            if step.ending == AttemptEnding::Interrupted {
                step.ending = AttemptEnding::Value;
            }
        }
        tools
    })
}

pub(crate) fn concurrencies() -> impl Strategy<Value = ExecutionLimits> {
    let at_once = select(vec![None, None, NonZeroU64::new(1), NonZeroU64::new(2), NonZeroU64::new(8)]);
    at_once.prop_map(|max_concurrency| ExecutionLimits { max_concurrency, ..ExecutionLimits::default() })
}

/// What a failure cancelled in a memo may be made again by another who asks for it: then it is the same call.
fn unique(end: &ProgramEnd, calls: &[PlacedCall]) -> Result<BTreeMap<Arc<str>, String>, TestCaseError> {
    let mut places = BTreeMap::new();
    for (place, call) in calls {
        let other = places.insert(Arc::clone(place), call.clone());
        let is_again = !end.is_free_of_failures() && place.starts_with('m') && other.as_ref() == Some(call);
        prop_assert!(other.is_none() || is_again, "{} and {:?} stand at {}", call, other, place);
    }
    Ok(places)
}

/// Of one limit: what may not be evaluated at once is one strand.
fn check(case: &ProgramCase, delays: &[(u8, u16)], seeds: [u64; 2]) -> Result<(), TestCaseError> {
    let (end, calls) = evaluate(case, Turns::Written)?;
    let places = unique(&end, &calls)?;
    let other = ProgramCase { tools: delayed(&case.tools, delays), ..case.clone() };
    for turns in [Turns::Written, Turns::Drawn(seeds[0]), Turns::Drawn(seeds[1])] {
        let (other_end, calls) = evaluate(&other, turns)?;
        let other_places = unique(&other_end, &calls)?;
        if end.is_free_of_failures() && other_end.is_free_of_failures() {
            prop_assert_eq!(&end, &other_end);
            prop_assert_eq!(&places, &other_places, "{:?}", turns);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(family!("program-places"))]

    #[test]
    fn places_depend_on_answers_alone(
        program in programs(), tools in answering_tools(), retry in retry_policies(), collects: bool,
        delays in vec((0_u8..4, select(vec![0_u16, 0, 1, 2, 5])), 1..40), limits in concurrencies(),
        seeds: [u64; 2],
    ) {
        let parallel_failures = if collects { ParallelFailures::Collect } else { ParallelFailures::Raise };
        let policy = ExecutionPolicy { retry, parallel_failures };
        check(&ProgramCase { program, tools, limits, policy }, &delays, seeds)?;
    }
}
