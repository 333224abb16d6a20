//! The summary of many runs, for people.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};

use windtunnel_sim::fault::FaultKind;

use crate::check::write_indented;
use crate::style::Style;
use crate::tally::{Spread, Tally};

/// What a summary says beside the tally.
pub(crate) struct Heading<'a> {
    pub(crate) id: &'a str,
    /// The seeds as they were asked for.
    pub(crate) seeds: String,
    /// How many they are.
    pub(crate) asked: u64,
    /// Whether the case draws from the seed.
    pub(crate) draws: bool,
}

pub(crate) fn write(heading: &Heading<'_>, tally: &Tally, style: Style, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} over seeds {}", style.strong(heading.id), heading.seeds)?;
    if tally.runs < heading.asked {
        writeln!(out, "interrupted after {} of {} seeds", tally.runs, heading.asked)?;
    }
    if !heading.draws {
        writeln!(out, "nothing in this case is drawn from the seed: every run is the same")?;
    }
    writeln!(out, "{}", outcomes(tally))?;
    writeln!(out, "{}", spreads(tally))
}

/// Real time is on a line of its own, so that the rest is the same each time.
pub(crate) fn write_real_time(runs: u64, elapsed: Duration, out: &mut impl Write) -> io::Result<()> {
    let seconds = elapsed.as_secs_f64();
    writeln!(out, "real time: {seconds:.3} s, {:.0} runs a second", runs as f64 / seconds.max(1e-9))
}

/// Which faults came, and which of those that are drawn never did.
pub(crate) fn write_faults(tally: &Tally, drawn: &BTreeSet<FaultKind>, out: &mut impl Write) -> io::Result<()> {
    if !tally.faults.is_empty() {
        let came: Vec<String> = tally.faults.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        writeln!(out, "faults that came: {}", came.join(", "))?;
    }
    let never: Vec<&str> =
        drawn.iter().filter(|kind| !tally.faults.contains_key(kind)).map(|kind| kind.name()).collect();
    match never.is_empty() {
        true => Ok(()),
        false => writeln!(out, "faults that never came: {}", never.join(", ")),
    }
}

pub(crate) fn write_failures(
    tally: &Tally,
    replay: impl Fn(u64) -> String,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let (Some(first), Some(verdict)) = (tally.failing_seeds.first(), &tally.first_failure) else {
        return writeln!(out, "{}", style.good("no seed failed"));
    };
    let listed: Vec<String> = tally.failing_seeds.iter().map(ToString::to_string).collect();
    let more = tally.failing - tally.failing_seeds.len() as u64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (failing, runs) = (tally.failing, tally.runs);
    let failed = style.bad(&format!("{failing} of {runs} seeds failed"));
    writeln!(out, "{failed}: {}{more}", listed.join(", "))?;
    for (name, broken) in &tally.broken {
        writeln!(out, "always {name:?}: broken by {broken} of {runs} seeds")?;
    }
    writeln!(out, "seed {first}:")?;
    verdict.failures().iter().try_for_each(|failure| write_indented(out, failure))?;
    writeln!(out, "to repeat it: {}", replay(*first))
}

fn outcomes(tally: &Tally) -> Table {
    let mut table = table(["outcome", &format!("{}s", tally.unit.as_str()), "share"]);
    let all: u64 = tally.outcomes.values().sum();
    for (outcome, calls) in &tally.outcomes {
        let share = *calls as f64 / all as f64 * 100.0;
        table.add_row([(*outcome).to_owned(), calls.to_string(), format!("{share:.1} %")]);
    }
    table
}

fn spreads(tally: &Tally) -> Table {
    let mut table = table(["", "count", "min", "mean", "max", "total"]);
    for (name, spread, digits) in [
        (&*format!("attempts a {}", tally.unit.as_str()), tally.attempts, 0),
        ("delay before a retry, s", tally.delays_s, 3),
        ("virtual time a run, s", tally.elapsed_s, 3),
        ("events a run", tally.events, 0),
    ] {
        table.add_row(row(name, spread, digits));
    }
    table
}

/// Whole numbers have a mean with digits all the same.
fn row(name: &str, spread: Spread, digits: usize) -> [String; 6] {
    let number = |number: f64, digits: usize| {
        if spread.count == 0 { "-".to_owned() } else { format!("{number:.digits$}") }
    };
    let mean = number(spread.mean(), digits.max(2));
    let (min, max, total) = (number(spread.min, digits), number(spread.max, digits), number(spread.total, digits));
    [name.to_owned(), spread.count.to_string(), min, mean, max, total]
}

/// A table with numbers to the right in all columns but the first.
/// A table whose first column names what the others count.
pub(crate) fn table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header);
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table
}
