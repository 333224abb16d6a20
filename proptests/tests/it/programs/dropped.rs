//! Evaluations that are dropped on their way: no tool runs on, and none starts later (V8).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use windtunnel_core::evaluator::Program;
use windtunnel_core::event::{EventKind, EventLog};
use windtunnel_proptests::cases::ProgramCase;
use windtunnel_proptests::invariants::programs_finish_once;
use windtunnel_proptests::strategies::{program_cases, programs, retry_policies, yielding_tools};
use windtunnel_sim::{World, WorldHandle};

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Turns, evaluator, read};

/// At most this many polls of one evaluation are tried.
const POLLS_MAX: usize = 40;

/// Gives up a future after so many polls.
struct Polls<F> {
    future: Pin<Box<F>>,
    left: usize,
}

impl<F: Future> Future for Polls<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        match self.future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Drops an evaluation after so many polls, and says whether it had come to its end.
async fn drop_after(polls: usize, case: &ProgramCase, program: &Program, world: &WorldHandle) -> bool {
    let (evaluator, provider) = evaluator(case, world, Turns::Written);
    let log = EventLog::new();
    let evaluator = evaluator.sink(log.clone());
    let has_ended = Polls { future: Box::pin(evaluator.evaluate(program)), left: polls }.await.is_some();
    assert_eq!(provider.running(), 0, "after {polls} polls a tool still runs");
    let attempts = provider.attempts();
    let events = log.events();
    world.env().sleep(Duration::from_secs(1_000_000)).await;
    assert_eq!(provider.attempts(), attempts, "after {polls} polls a tool starts later");
    assert_eq!(log.events(), events, "after {polls} polls something is still told");
    programs_finish_once(&events).unwrap();
    match events.last().map(|event| &event.kind) {
        Some(EventKind::ProgramFinished { status, .. }) => assert_eq!(*status == "cancelled", !has_ended),
        last => assert!(last.is_none() && polls == 0, "after {polls} polls the log ends with {last:?}"),
    }
    has_ended
}

fn check(case: &ProgramCase) -> Result<(), TestCaseError> {
    let program = read(&case.program.to_json())?;
    let run = World::new(0).time_limit(Duration::MAX).run(|world| async move {
        for polls in 0..POLLS_MAX {
            if drop_after(polls, case, &program, &world).await {
                break;
            }
        }
    });
    run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))
}

fn config() -> Config {
    let config = family!("program-dropped");
    Config { cases: config.cases.div_ceil(2), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_dropped_evaluation_leaves_nothing_behind(case in program_cases(), tools in yielding_tools()) {
        check(&ProgramCase { tools, ..case })?;
    }

    #[test]
    fn a_dropped_evaluation_that_retries_leaves_nothing_behind(case in program_cases(), program in programs(), retry in retry_policies()) {
        let mut case = ProgramCase { program, ..case };
        case.policy.retry = retry;
        check(&case)?;
    }
}
