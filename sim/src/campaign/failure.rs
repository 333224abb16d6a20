//! A failure, as its reader meets it.

use std::fmt;

use windtunnel_core::event::Event;

use super::{Recipe, SweepPoint};
use crate::WorldError;
use crate::fault::DeliveredFault;

/// How many of the last events a failure shows.
const EVENTS_SHOWN: usize = 12;

/// A run that failed.
pub struct Failure {
    /// What it follows from. What was drawn is said as it would be planned.
    pub recipe: Recipe,
    /// Why it failed.
    pub error: WorldError,
    /// All its events.
    pub trace: Vec<Event>,
    /// The faults that came.
    pub faults: Vec<DeliveredFault>,
    /// The smallest that was found which fails in the same way; nothing, if none is smaller.
    pub minimal: Option<Minimal>,
    /// Which run of a sweep it was.
    pub point: Option<SweepPoint>,
    /// Whether it was repeated: then all its events are told.
    pub(super) is_repeated: bool,
    /// Where its report is, or why there is none, if one was asked for.
    pub(super) report: Option<String>,
}

/// A smaller run that fails in the same way, and does so again.
pub struct Minimal {
    /// What it follows from.
    pub recipe: Recipe,
    /// Why it failed.
    pub error: WorldError,
    /// All its events.
    pub trace: Vec<Event>,
    /// The faults that came.
    pub faults: Vec<DeliveredFault>,
    /// How many runs it took to find it.
    pub runs: usize,
}

impl Failure {
    /// The smallest recipe that fails.
    pub fn smallest(&self) -> &Recipe {
        self.minimal.as_ref().map_or(&self.recipe, |minimal| &minimal.recipe)
    }

    /// Why the smallest run fails, its events, and the faults that came in it.
    pub(crate) fn smallest_run(&self) -> (&WorldError, &[Event], &[DeliveredFault]) {
        match &self.minimal {
            Some(minimal) => (&minimal.error, &minimal.trace, &minimal.faults),
            None => (&self.error, &self.trace, &self.faults),
        }
    }

    /// A test that repeats the smallest run, to be pasted beside `scenario`, in worlds of `World::new`.
    pub fn rust_test(&self) -> String {
        let recipe = self.smallest();
        format!(
            "#[test]\nfn seed_{}_fails() {{\n    let recipe = windtunnel::sim::Recipe::from_json(r##\"{}\"##).unwrap();\n    \
             recipe.world(windtunnel::sim::World::new).run(scenario).outcome.unwrap();\n}}\n",
            recipe.seed,
            recipe.to_json()
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, trace, faults) = self.smallest_run();
        match &self.point {
            Some(point) => writeln!(formatter, "seed {} fails at {point}: {error}", self.recipe.seed)?,
            None => writeln!(formatter, "seed {} fails: {error}", self.recipe.seed)?,
        }
        if let Some(minimal) = &self.minimal {
            let (few, all) = (faults.len(), self.faults.len());
            writeln!(
                formatter,
                "the smallest run that fails so, of {} tried, with {few} of {all} faults:",
                minimal.runs
            )?;
        }
        for delivered in faults {
            writeln!(formatter, "  {delivered}")?;
        }
        if self.is_repeated {
            trace.iter().try_for_each(|event| writeln!(formatter, "{event}"))?;
        } else {
            write_tail(formatter, trace)?;
        }
        write!(formatter, "repeat it: {}", self.repeat_command())?;
        self.report.iter().try_for_each(|report| write!(formatter, "\n{report}"))
    }
}

impl Failure {
    /// What repeats it on a command line.
    pub(crate) fn repeat_command(&self) -> String {
        let recipe = self.smallest();
        let what = if self.minimal.is_none() && recipe.is_plain() {
            format!("WINDTUNNEL_SEED={}", recipe.seed)
        } else {
            format!("WINDTUNNEL_REPEAT='{}'", recipe.to_json().replace('\'', r"'\''"))
        };
        // A test's thread has the test's name.
        let test = match std::thread::current().name() {
            None | Some("main") => String::new(),
            Some(test) => format!(" {test}"),
        };
        let note = match &self.error {
            WorldError::Leak { .. } => " (with the features of this run)",
            _ => "",
        };
        format!("{what} cargo test{test}{note}")
    }
}

/// The last events, without those that only carry the others.
fn write_tail(formatter: &mut fmt::Formatter<'_>, trace: &[Event]) -> fmt::Result {
    if trace.is_empty() {
        writeln!(formatter, "  no events: give the executor the sink `world.trace()`")?;
    }
    let is_story = |event: &&Event| !event.kind.name().starts_with("network.");
    let story: Vec<_> = trace.iter().filter(is_story).collect();
    let shown = &story[story.len().saturating_sub(EVENTS_SHOWN)..];
    let hidden = trace.len() - shown.len();
    if hidden > 0 {
        writeln!(formatter, "{:>14}  {hidden} other events; whoever repeats it sees all", "…")?;
    }
    shown.iter().try_for_each(|event| writeln!(formatter, "{event}"))
}

impl fmt::Display for DeliveredFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = format!("{}.{:09}", self.at.as_secs(), self.at.subsec_nanos());
        let action = serde_json::to_string(&self.fault.action).unwrap_or_default();
        let when = serde_json::to_string(&self.fault.when).unwrap_or_default();
        let host = self.host.as_deref().unwrap_or("the world");
        write!(formatter, "fault at {at} on {host}: {action} when {when}")
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Debug for Minimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Minimal")
            .field("recipe", &self.recipe)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
