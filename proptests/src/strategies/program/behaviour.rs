//! What the tools of programs do.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use windtunnel_core::evaluator::ErrorKind;

use crate::cases::{AttemptEnding, AttemptScript, AttemptStep, Keying, ProgramTool, ToolBehaviours};

fn lengths() -> impl Strategy<Value = Duration> + Clone {
    prop_oneof![
        2 => Just(Duration::ZERO),
        3 => (1_u64..=4).prop_map(Duration::from_millis),
        1 => (1_u64..5_000_000_000).prop_map(Duration::from_nanos),
    ]
}

fn failures() -> impl Strategy<Value = AttemptEnding> + Clone {
    prop_oneof![
        8 => Just(AttemptEnding::Failure(ErrorKind::ToolExecution)),
        4 => Just(AttemptEnding::Failure(ErrorKind::Timeout)),
        2 => Just(AttemptEnding::Failure(ErrorKind::Unclassified)),
        1 => Just(AttemptEnding::Failure(ErrorKind::ReplayMismatch)),
        1 => Just(AttemptEnding::Failure(ErrorKind::ProviderResponse)),
        1 => Just(AttemptEnding::Panic),
        2 => Just(AttemptEnding::Interrupted),
    ]
}

/// A few failures at most, and then usually a value.
fn failing_scripts() -> impl Strategy<Value = AttemptScript> + Clone {
    let step = |endings: BoxedStrategy<AttemptEnding>| {
        (lengths(), endings).prop_map(|(takes, ending)| AttemptStep { yields: 0, takes, ending })
    };
    let count = prop_oneof![6 => Just(0_usize), 3 => Just(1), 1 => 2_usize..=3];
    let first = count.prop_flat_map(move |count| vec(step(failures().boxed()), count));
    let last = step(prop_oneof![15 => Just(AttemptEnding::Value), 1 => failures()].boxed());
    (first, last).prop_map(|(mut steps, last)| {
        steps.push(last);
        AttemptScript { steps }
    })
}

fn keyings() -> impl Strategy<Value = Keying> + Clone {
    prop_oneof![Just(Keying::Calls), Just(Keying::Arguments)]
}

/// Tools of which some take time, fail a few times, or fail for good. One time in three all of them answer at once.
pub fn failing_tools() -> impl Strategy<Value = ToolBehaviours> + Clone {
    let scripts = prop_oneof![1 => Just(BTreeMap::new()), 2 => scripts_of_most_tools(failing_scripts())];
    (keyings(), scripts).prop_map(|(keying, scripts)| ToolBehaviours { keying, scripts })
}

/// Tools that take some time, which follows from their arguments, and never fail.
pub fn slow_tools() -> impl Strategy<Value = ToolBehaviours> + Clone {
    behaviours(lengths().prop_map(|takes| AttemptStep { takes, ..AttemptStep::VALUE }))
}

/// Tools that let others go on before they answer, may take time, and never fail.
pub fn yielding_tools() -> impl Strategy<Value = ToolBehaviours> + Clone {
    behaviours((0_u8..=3, lengths()).prop_map(|(yields, takes)| AttemptStep { yields, takes, ..AttemptStep::VALUE }))
}

fn behaviours(steps: impl Strategy<Value = AttemptStep> + Clone) -> impl Strategy<Value = ToolBehaviours> + Clone {
    let script = steps.prop_map(|step| AttemptScript { steps: vec![step] });
    scripts_of_most_tools(script).prop_map(|scripts| ToolBehaviours { keying: Keying::Arguments, scripts })
}

fn scripts_of_most_tools(
    scripts: impl Strategy<Value = AttemptScript> + Clone,
) -> impl Strategy<Value = BTreeMap<ProgramTool, Vec<AttemptScript>>> + Clone {
    vec(vec(scripts, 0..=3), ProgramTool::ALL.len()).prop_map(|scripts| {
        ProgramTool::ALL.into_iter().zip(scripts).filter(|(_, scripts)| !scripts.is_empty()).collect()
    })
}
