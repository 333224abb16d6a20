//! What it takes to find each animal of the zoo: how many seeds, how long, and how many faults are left of it; and how many
//! points of a sweep show it.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

#[path = "../tests/zoo/animals.rs"]
mod animals;

use std::time::Instant;

use animals::hunt::{SEEDS, campaign, hunt, the_failure};
use animals::{Animal, Breaks, Twin};
use windtunnel::sim::ExploreError;

const ALL: [&Animal; 15] = [
    &animals::CUT_STREAM,
    &animals::DROP_ONLY_FLUSH,
    &animals::HASTY_OUTER_RETRY,
    &animals::LATE_ANSWER,
    &animals::LOCK_ORDER,
    &animals::LONG_DELAY,
    &animals::LOST_ACKNOWLEDGMENT,
    &animals::OVERSPENT_BUDGET,
    &animals::REPEATED_STEP,
    &animals::RETRIED_TURN,
    &animals::STALE_LEASE,
    &animals::SWAPPED_ANSWERS,
    &animals::UNSEEN_ARGUMENTS,
    &animals::UNSYNCED_RENAME,
    &animals::WALL_CLOCK_EXPIRY,
];

fn main() {
    println!(
        "found: the first of {SEEDS} seeds with random faults that fails, and after how many ms. smallest: what is left of"
    );
    println!(
        "its faults, after how many runs and ms more. sweep: how many of its runs fail. twin: the whole hunt, in vain.\n"
    );
    println!("animal               found      ms  runs     ms  sweep: failing      ms  twin ms  smallest");
    for animal in ALL {
        row(animal);
    }
    println!();
    for animal in ALL {
        let shows = match animal.breaks {
            Breaks::Rule(rule) => rule.to_owned(),
            Breaks::Deadlock(names) => format!("deadlock: {}", names.join(", ")),
        };
        println!("{:<20} after {:<24} {shows}", animal.name, animal.after);
    }
}

fn row(animal: &Animal) {
    let scenario = |world| (animal.scenario)(world, Twin::Faulty);
    let (found, find_ms) = timed(|| the_failure(campaign().shrink_runs_max(0).run(scenario).unwrap_err()).unwrap());
    let seed = found.recipe.seed;
    let (shrunk, both_ms) = timed(|| the_failure(campaign().run(scenario).unwrap_err()).unwrap());
    let shrink_ms = (both_ms - find_ms).max(0.0);
    let runs = shrunk.minimal.as_ref().map_or(0, |minimal| minimal.runs);
    let left: Vec<_> = shrunk.smallest().faults.faults.iter().map(|fault| fault.action.kind().name()).collect();
    let (swept, sweep_ms) = timed(|| campaign().shrink_runs_max(0).sweep(scenario));
    let failing = match swept {
        Err(ExploreError::Swept(report)) => {
            format!("{} of {}", report.failing, report.campaign.seeds as usize + report.failing)
        }
        Ok(report) => format!("0 of {}", report.campaign.seeds),
        Err(_) => "without faults".to_owned(),
    };
    let (_survived, twin_ms) = timed(|| hunt(animal, Twin::Correct).unwrap());
    println!(
        "{:<20} {seed:>5} {find_ms:>7.1} {runs:>5} {shrink_ms:>6.1}  {failing:>14} {sweep_ms:>7.1} {twin_ms:>8.1}  {} of {}: {}",
        animal.name,
        left.len(),
        shrunk.recipe.faults.faults.len(),
        if left.is_empty() { "the order alone".to_owned() } else { left.join(", ") },
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let value = work();
    (value, began.elapsed().as_secs_f64() * 1000.0)
}
