//! One evaluation in a world, with all that can be seen of it.

use std::time::Duration;

use crate::cases::ProgramCase;
use crate::invariants::{attempts_keep_their_call, order, programs_finish_once};
use crate::models::{ProgramEnd, ProgramPrediction};
use crate::played::{ObservedAttempt, PlayedProvider};
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use windtunnel_core::evaluator::{Consumption, Evaluation, Evaluator, Program};
use windtunnel_core::event::Event;
use windtunnel_sim::{World, WorldHandle};

/// How siblings take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// As they are written.
    Written,
    /// Drawn from this seed.
    Drawn(u64),
}

/// What came of one evaluation.
#[derive(Debug)]
pub struct Evaluated {
    /// The end.
    pub end: ProgramEnd,
    /// The value or the error, with its wording.
    pub told: String,
    /// What was used.
    pub consumption: Consumption,
    /// How long it took.
    pub elapsed: Duration,
    /// The attempts that the provider saw, in order.
    pub attempts: Vec<ObservedAttempt>,
    /// How many tools were at work at once at most.
    pub running_max: usize,
    /// The log.
    pub events: Vec<Event>,
}

/// The program of this text.
///
/// # Errors
/// Why it is none.
pub fn read(program: &Value) -> Result<Program, TestCaseError> {
    Program::from_value(program).map_err(|refusal| TestCaseError::fail(format!("{refusal}\n{program}")))
}

/// An evaluator of a case's program in a world, and its provider.
pub fn evaluator(case: &ProgramCase, world: &WorldHandle, turns: Turns) -> (Evaluator, PlayedProvider) {
    let provider = PlayedProvider::new(world.env(), case.tools.clone());
    let evaluator = Evaluator::new(provider.clone())
        .env(world.env())
        .sink(world.trace())
        .limits(case.limits)
        .policy(case.policy.clone());
    (if turns == Turns::Written { evaluator } else { evaluator.shuffle_siblings() }, provider)
}

/// The value or the error in words.
pub fn told(evaluation: &Evaluation) -> String {
    match &evaluation.result {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

/// Evaluates, with siblings in the order they are written in.
///
/// # Errors
/// What is broken.
pub fn evaluate(case: &ProgramCase) -> Result<Evaluated, TestCaseError> {
    evaluate_in_turns(case, Turns::Written)
}

/// Evaluates in a fresh world, waits long after, and checks what holds whatever the case was.
///
/// # Errors
/// What is broken.
pub fn evaluate_in_turns(case: &ProgramCase, turns: Turns) -> Result<Evaluated, TestCaseError> {
    let program = read(&case.program.to_json())?;
    evaluate_program(&program, case, turns)
}

/// Evaluates a program that is read already.
///
/// # Errors
/// What is broken.
pub fn evaluate_program(program: &Program, case: &ProgramCase, turns: Turns) -> Result<Evaluated, TestCaseError> {
    let seed = if let Turns::Drawn(seed) = turns { seed } else { 0 };
    let run = World::new(seed).time_limit(Duration::MAX).run(|world| async move {
        let (evaluator, provider) = evaluator(case, &world, turns);
        let evaluation = evaluator.evaluate(program).await;
        let elapsed = world.env().now();
        let (running, attempts) = (provider.running(), provider.attempts());
        world.env().sleep(Duration::from_secs(1_000_000)).await;
        assert_eq!(running, 0, "no tool runs when the evaluation has returned");
        assert_eq!(provider.attempts().len(), attempts.len(), "no tool starts later");
        (evaluation, elapsed, attempts, provider.running_max())
    });
    let events = run.trace;
    let (evaluation, elapsed, attempts, running_max) =
        run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let evaluated = Evaluated {
        end: ProgramEnd::of(&evaluation),
        told: told(&evaluation),
        consumption: evaluation.consumption,
        elapsed,
        attempts,
        running_max,
        events,
    };
    evaluated.check(case)?;
    Ok(evaluated)
}

impl Evaluated {
    /// What holds whatever the case was.
    fn check(&self, case: &ProgramCase) -> Result<(), TestCaseError> {
        order(&self.events)?;
        programs_finish_once(&self.events)?;
        attempts_keep_their_call(&self.attempts, &case.policy.retry)?;
        let announced = self.events.iter().filter(|event| event.kind.name() == "program.call").count();
        let finished = self.events.last().map(|event| event.kind.name());
        let (made, counted) = (self.attempts.len() as u64, self.consumption.tool_calls);
        let most = case.limits.max_tool_calls.map_or(u64::MAX, std::num::NonZeroU64::get);
        let holds = [
            ("an attempt is announced and made", announced == self.attempts.len()),
            ("attempts are counted", made == counted || made == most && counted > most),
            ("attempts are within the limit", made <= most),
            ("the last event is the end", finished == Some("program.finished")),
            ("what runs at once is at work", self.running_max as u64 <= self.consumption.peak_concurrency),
        ];
        for (what, holds) in holds {
            if !holds {
                return Err(TestCaseError::fail(format!("not so: {what}: {self:?}")));
            }
        }
        Ok(())
    }
}

/// The case's prediction, if it can be made.
///
/// # Errors
/// A rejection, if it cannot.
pub fn predict(case: &ProgramCase) -> Result<ProgramPrediction, TestCaseError> {
    ProgramPrediction::of(case).ok_or_else(|| TestCaseError::reject("the evaluation is too long"))
}
