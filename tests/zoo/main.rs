//! The zoo: small agents, each with a bug that was found in production, which exploration finds without being told where, and
//! each with a correct twin that survives the same exploration.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by failing")]

// By its path, as the benchmark has it.
#[path = "animals.rs"]
mod animals;

use animals::hunt::{hunt, the_failure, world};
use animals::{Animal, Breaks, Twin};
use windtunnel::sim::{Recipe, Run, WorldError};

/// The faulty one is found, for the right reason, with few faults, and fails so again; its twin survives all of that.
fn check(animal: &Animal) {
    let found = the_failure(hunt(animal, Twin::Faulty).map(|_| ()).unwrap_err()).unwrap();
    assert!(is_the_bug(&found.error, &animal.breaks), "{}, after {}: {found}", animal.name, animal.after);
    let smallest = found.smallest();
    assert!(smallest.faults.faults.len() <= 2, "{}, after {}: {found}", animal.name, animal.after);
    let repeat = || -> Run<()> {
        let recipe = Recipe::from_json(&smallest.to_json()).unwrap();
        recipe.world(world).run(|world| (animal.scenario)(world, Twin::Faulty))
    };
    let (first, second) = (repeat(), repeat());
    assert_eq!(first.digest(), second.digest());
    assert!(
        is_the_bug(&first.outcome.unwrap_err(), &animal.breaks),
        "{}, after {}: {found}",
        animal.name,
        animal.after
    );
    hunt(animal, Twin::Correct).unwrap();
}

fn is_the_bug(error: &WorldError, breaks: &Breaks) -> bool {
    match (error, breaks) {
        (WorldError::AssertionFailed { assertion }, Breaks::Rule(rule)) => assertion == rule,
        (WorldError::Stuck { waiting } | WorldError::TimeLimit { waiting, .. }, Breaks::Deadlock(names)) => {
            let told = waiting.lines().join("\n");
            names.iter().all(|name| told.contains(name))
        }
        _ => false,
    }
}

#[test]
fn a_step_is_repeated_after_a_crash_between_its_effect_and_its_record() {
    check(&animals::REPEATED_STEP);
}

#[test]
fn a_turn_is_retried_with_the_tool_that_succeeded_in_it() {
    check(&animals::RETRIED_TURN);
}

#[test]
fn a_payment_is_retried_because_its_acknowledgment_was_lost() {
    check(&animals::LOST_ACKNOWLEDGMENT);
}

#[test]
fn arguments_are_executed_that_nobody_approved() {
    check(&animals::UNSEEN_ARGUMENTS);
}

#[test]
fn an_outer_retry_ignores_what_the_provider_asked_for() {
    check(&animals::HASTY_OUTER_RETRY);
}

#[test]
fn a_delay_is_longer_than_promised() {
    check(&animals::LONG_DELAY);
}

#[test]
fn a_budget_is_checked_before_and_spent_after_the_call() {
    check(&animals::OVERSPENT_BUDGET);
}

#[test]
fn answers_of_parallel_calls_are_matched_by_their_arrival() {
    check(&animals::SWAPPED_ANSWERS);
}

#[test]
fn a_stream_that_was_cut_is_taken_for_the_answer() {
    check(&animals::CUT_STREAM);
}

#[test]
fn what_is_saved_by_a_destructor_is_lost_in_a_crash() {
    check(&animals::DROP_ONLY_FLUSH);
}

#[test]
fn two_tasks_take_two_locks_in_opposite_orders() {
    check(&animals::LOCK_ORDER);
}

#[test]
fn a_renamed_file_was_never_synced() {
    check(&animals::UNSYNCED_RENAME);
}

#[test]
fn a_worker_writes_under_a_lease_that_it_lost_in_a_pause() {
    check(&animals::STALE_LEASE);
}

#[test]
fn a_late_answer_is_taken_for_that_of_the_next_question() {
    check(&animals::LATE_ANSWER);
}

#[test]
fn an_approval_counts_after_its_end_because_the_wall_clock_went_back() {
    check(&animals::WALL_CLOCK_EXPIRY);
}
