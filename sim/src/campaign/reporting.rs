//! Reports of failures, in the folder that the environment names.

use std::path::{Path, PathBuf};

use super::{ExploreError, Failure};
use crate::export::SaveError;
use crate::report::Report;

/// The variable that names a folder for reports.
const FOLDER_VARIABLE: &str = "WINDTUNNEL_REPORT";

/// What was found, with its report if the environment names a folder for it.
pub(super) fn reported(error: ExploreError) -> ExploreError {
    match std::env::var_os(FOLDER_VARIABLE) {
        None => error,
        Some(folder) => reported_in(Path::new(&folder), error),
    }
}

fn reported_in(folder: &Path, mut error: ExploreError) -> ExploreError {
    let Some(seed) = failures(&mut error).first().map(|failure| failure.recipe.seed) else { return error };
    // A test's thread has the test's name.
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").unwrap_or("campaign");
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let name: String =
        test.replace("::", ".").chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let report = Report::of_campaign(test, Err(&error));
    let written = write(&report, folder, &format!("{name}-seed-{seed}.html"));
    for (place, failure) in failures(&mut error).iter_mut().enumerate() {
        failure.report = Some(match &written {
            Ok(path) if place == 0 => format!("report: {}", path.display()),
            Ok(path) => format!("report: {}#run-{}", path.display(), place + 1),
            Err(problem) => format!("{FOLDER_VARIABLE} asks for a report: {problem}"),
        });
    }
    error
}

fn write(report: &Report, folder: &Path, name: &str) -> Result<PathBuf, SaveError> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join(name);
    // What is wrong with the folder is told of the file.
    let _told = std::fs::create_dir_all(folder);
    report.save(&path)?;
    Ok(path)
}

fn failures(error: &mut ExploreError) -> &mut [Failure] {
    match error {
        ExploreError::Failed(failure) => std::slice::from_mut(failure),
        ExploreError::Swept(report) => &mut report.failures,
        _ => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore;

    fn found() -> ExploreError {
        explore(4..5, |_world| async { panic!("at once") }).unwrap_err()
    }

    #[test]
    fn a_failure_names_its_report() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("reports");
        let story = reported_in(&inner, found()).to_string();
        let file = inner.join("campaign.reporting.tests.a_failure_names_its_report-seed-4.html");
        assert!(story.ends_with(&format!("\nreport: {}", file.display())), "{story}");
        let page = std::fs::read_to_string(file).unwrap();
        assert!(page.contains("WINDTUNNEL_SEED=4 cargo test"), "the line that repeats it");
    }

    #[test]
    fn a_report_that_cannot_be_written_hides_no_failure() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let story = reported_in(file.path(), found()).to_string();
        assert!(story.starts_with("seed 4 fails"), "{story}");
        let (_, told) = story.split_once("WINDTUNNEL_REPORT asks for a report: ").unwrap();
        assert!(told.contains("seed-4.html cannot be written: "), "{story}");
    }

    #[test]
    fn what_is_no_failure_of_a_run_has_no_report() {
        let folder = tempfile::tempdir().unwrap();
        let nothing = explore(5..5, |_world| async {}).unwrap_err();
        reported_in(folder.path(), nothing);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
