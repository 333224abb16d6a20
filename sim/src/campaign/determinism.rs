//! The same runs again, in this process and in a fresh one.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::parallel::ordered;
use super::{Campaign, ExploreError};
use crate::{Divergence, Run, World, WorldHandle};

/// Names the file to which a fresh process writes what came of its runs.
const FILE_VARIABLE: &str = "WINDTUNNEL_TRACES_FILE";

/// Names the one seed of which it is to write the whole trace.
const WHOLE_VARIABLE: &str = "WINDTUNNEL_TRACES_OF";

/// Runs that should have been the same are not, or could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum DeterminismError {
    /// Two runs in this process differ.
    #[error(transparent)]
    Diverged(Box<Divergence>),
    /// A run in a fresh process differs from the one here.
    #[error(
        "seed {seed} runs otherwise in a fresh process, from event {index} on: something does not follow from the seed, such \
         as the real clock, entropy, an address in memory or the order of a hash map\n- {here}\n+ {there}"
    )]
    OtherProcess {
        /// The seed.
        seed: u64,
        /// The place of the first event that differs, from 0.
        index: usize,
        /// The event here, or how the run ended.
        here: String,
        /// The event there, or how the run ended.
        there: String,
    },
    /// Only a test can be run again by name.
    #[error("this runs in no test that can be run again by its name: call it from the thread of a test")]
    NoTest,
    /// The fresh process did not do its work.
    #[error("the fresh process `{command}` did not write its traces, and ended with {status}")]
    NoTraces {
        /// How it was started.
        command: String,
        /// How it ended.
        status: String,
    },
    /// A file or a process could not be had.
    #[error("the traces of a fresh process cannot be had at {}", path.display())]
    Io {
        /// Which file or program.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is nothing to compare.
    #[error(transparent)]
    Nothing(Box<ExploreError>),
}

impl<W: Fn(u64) -> World + Sync> Campaign<W> {
    /// Runs each seed twice in this process, and once in a fresh one, and compares the traces byte for byte. The fresh process
    /// is this test, alone: so it must be called from a test's own thread, once, and comes to the same call there.
    ///
    /// ```no_run
    /// use windtunnel_sim::Campaign;
    ///
    /// // In a test:
    /// Campaign::new().seeds(0..20).check_determinism(|world| async move {
    ///     world.env().sleep(std::time::Duration::from_secs(1)).await;
    /// })?;
    /// # Ok::<(), windtunnel_sim::DeterminismError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeterminismError`] with the first event that differs, or why nothing could be compared.
    pub fn check_determinism<F, Fut>(&self, scenario: F) -> Result<(), DeterminismError>
    where
        F: Fn(WorldHandle) -> Fut + Sync,
        Fut: Future<Output = ()>,
    {
        if self.seeds.is_empty() {
            return Err(DeterminismError::Nothing(Box::new(ExploreError::NoSeeds { seeds: self.seeds.clone() })));
        }
        let healing = self.healing_of_runs(self.seeds.start, &|world: World| world.run(&scenario));
        let world = self.worlds(healing.map_err(|error| DeterminismError::Nothing(Box::new(error)))?);
        let whole = |seed: u64| -> Result<String, DeterminismError> {
            let run = world(seed).check_determinism(&scenario).map_err(DeterminismError::Diverged)?;
            let events = run.trace.iter().map(|event| serde_json::to_string(event).unwrap_or_default());
            Ok(events.chain([ending(&run)]).collect::<Vec<_>>().join("\n"))
        };
        if let (Some(path), Some(seed)) = (variable(FILE_VARIABLE), variable(WHOLE_VARIABLE)) {
            return write(Path::new(&path), &whole(seed.parse().unwrap_or_default())?);
        }
        let count = usize::try_from(self.seeds.end - self.seeds.start).unwrap_or(usize::MAX);
        let check = |place: usize| {
            let checked = world(self.seeds.start + place as u64).check_determinism(&scenario);
            checked.map(|run| format!("{} {}\n", run.digest(), ending(&run)))
        };
        let runs = ordered(self.jobs, count, check, Result::is_err);
        let runs = runs.into_iter().collect::<Result<String, _>>().map_err(DeterminismError::Diverged)?;
        if let Some(path) = variable(FILE_VARIABLE) {
            return write(Path::new(&path), &runs);
        }
        match first_difference(&runs, &in_fresh_process(None)?) {
            None => Ok(()),
            Some((place, ..)) => {
                let seed = self.seeds.start + place as u64;
                let (here, there) = (whole(seed)?, in_fresh_process(Some(seed))?);
                let (index, here, there) = first_difference(&here, &there).unwrap_or_default();
                Err(DeterminismError::OtherProcess { seed, index, here, there })
            }
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// How a run ended, on one line.
fn ending(run: &Run<()>) -> String {
    let end = run.outcome.as_ref().map_or_else(ToString::to_string, |()| "it ended".to_owned());
    format!("after {:?}: {}", run.elapsed, end.replace('\n', " "))
}

fn write(path: &Path, traces: &str) -> Result<(), DeterminismError> {
    std::fs::write(path, traces).map_err(|source| DeterminismError::Io { path: path.to_owned(), source })
}

/// What this test writes in a process of its own: of all runs a line, or the whole trace of one.
fn in_fresh_process(whole: Option<u64>) -> Result<String, DeterminismError> {
    let test = test_name(std::thread::current().name(), std::env::args()).ok_or(DeterminismError::NoTest)?;
    let program =
        std::env::current_exe().map_err(|source| DeterminismError::Io { path: "this program".into(), source })?;
    let name: String = test.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let path = std::env::temp_dir().join(format!("windtunnel-{}-{name}", std::process::id()));
    let mut command = Command::new(&program);
    command.args([test.as_str(), "--exact"]).env(FILE_VARIABLE, &path);
    if let Some(seed) = whole {
        command.env(WHOLE_VARIABLE, seed.to_string());
    }
    let output = command.output().map_err(|source| DeterminismError::Io { path: program.clone(), source })?;
    let traces = std::fs::read_to_string(&path);
    let _may_be_missing = std::fs::remove_file(&path);
    traces.map_err(|_missing| DeterminismError::NoTraces {
        command: format!("{} {test} --exact", program.file_name().map(OsStr::to_string_lossy).unwrap_or_default()),
        status: output.status.to_string(),
    })
}

/// The test that runs here: its thread has its name, unless it is the only one.
fn test_name(thread: Option<&str>, arguments: impl Iterator<Item = String>) -> Option<String> {
    if let Some(name) = thread.filter(|name| *name != "main") {
        return Some(name.to_owned());
    }
    let arguments: Vec<_> = arguments.skip(1).collect();
    let is_exact = arguments.iter().any(|argument| argument == "--exact");
    arguments.into_iter().find(|argument| is_exact && !argument.starts_with('-'))
}

/// The place of the first line that differs, and both.
fn first_difference(here: &str, there: &str) -> Option<(usize, String, String)> {
    let (mut here, mut there) = (here.lines(), there.lines());
    (0..).find_map(|place| {
        let (left, right) = (here.next(), there.next());
        let text = |line: Option<&str>| line.unwrap_or_default().to_owned();
        match (left, right) {
            (None, None) => Some(None),
            _ if left == right => None,
            _ => Some(Some((place, text(left), text(right)))),
        }
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_known_by_its_thread_or_by_what_was_asked_for() {
        let arguments = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter();
        assert_eq!(test_name(Some("it::a"), arguments("program")).as_deref(), Some("it::a"));
        assert_eq!(test_name(Some("main"), arguments("program --exact it::b --nocapture")).as_deref(), Some("it::b"));
        assert_eq!(test_name(Some("main"), arguments("program it::b")), None);
        assert_eq!(test_name(None, arguments("program")), None);
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        let difference =
            |here, there| first_difference(here, there).map(|(place, here, there)| format!("{place} {here} {there}"));
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\nc\n", "a\nx\n").as_deref(), Some("1 b x"));
        assert_eq!(difference("a\n", "a\nb\n").as_deref(), Some("1  b"));
    }
}
