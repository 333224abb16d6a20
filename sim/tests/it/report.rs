//! Reports of failing tests, in the folder that the environment names.

use std::path::Path;
use std::process::Command;

use windtunnel_sim::{Campaign, ExploreError, WorldHandle, explore};

const VARIABLE: &str = "WINDTUNNEL_REPORT";

/// Runs this test alone, in a process whose environment names a folder. Gives whether this is that process.
fn is_with_folder(test: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args([test, "--exact"]).env(VARIABLE, folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    false
}

/// The page that a failure names last.
fn page(error: &ExploreError) -> String {
    let story = error.to_string();
    let (_, file) = story.rsplit_once("\nreport: ").unwrap();
    std::fs::read_to_string(Path::new(file)).unwrap()
}

#[test]
fn a_test_that_explores_writes_a_report_when_it_fails() {
    if is_with_folder("report::a_test_that_explores_writes_a_report_when_it_fails") {
        let found = explore(3..5, |world| async move { world.assertions().always("all is well", false) });
        let error = found.unwrap_err();
        let page = page(&error);
        assert!(page.contains("WINDTUNNEL_SEED=3 cargo test report::a_test_that_explores"), "the line that repeats it");
        assert!(page.contains("all is well"));
        assert!(error.to_string().contains("report.a_test_that_explores_writes_a_report_when_it_fails-seed-3.html"));
    }
}

#[test]
fn a_test_that_sweeps_writes_all_its_failures_into_one_report() {
    if is_with_folder("report::a_test_that_sweeps_writes_all_its_failures_into_one_report") {
        let scenario = |world: WorldHandle| async move {
            let pay = || async {
                world.effects().happen("payment", None).await;
                Ok::<_, windtunnel_core::BoxError>(())
            };
            let answer = world.faults().call("pay", pay).await;
            world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
            world.assertions().always("it answers", answer.is_ok());
        };
        let error = Campaign::new().sweep(scenario).unwrap_err();
        let ExploreError::Swept(report) = &error else { panic!("{error}") };
        assert_eq!(report.failures.len(), 3);
        let story = report.failures[2].to_string();
        assert!(story.ends_with(".html#run-3"), "{story}");
        let first = story.trim_end_matches("#run-3").rsplit_once("report: ").unwrap().1.to_owned();
        assert!(std::fs::read_to_string(first).unwrap().contains("Minimal plan of faults"));
    }
}
