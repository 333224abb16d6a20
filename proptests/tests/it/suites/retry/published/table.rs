//! What published crates keep, in `proptests/RETRY-CRATES.md`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use windtunnel_proptests::suites::{Finding, Judged, Report, RetrySubject, Settings, markdown_table, retry_suite};

use super::backoff::BackoffCrate;
use super::backon::{Adjust, Backon};
use super::exponential_backoff::ExponentialBackoff;
use super::tokio_retry::TokioRetry;
use super::tower::Tower;
use super::tryhard::Tryhard;
use crate::suites::retry::ours::Ours;

const ABOUT: &str = include_str!("about.md");

fn report<S: RetrySubject>(name: &str, subject: &S) -> Report {
    // As many cases as the file was made with, whatever the environment says.
    retry_suite().run(name, subject, &Settings::default())
}

/// The crate's name and the version that is locked, and what is said beside.
fn named(name: &str, beside: &str) -> String {
    let lock = fs::read_to_string(root().join("../Cargo.lock")).unwrap();
    let lock: toml::Table = lock.parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let version = packages.iter().find(|package| package["name"].as_str() == Some(name)).unwrap()["version"].as_str();
    format!("{name} {}{beside}", version.unwrap())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn reports() -> Vec<Report> {
    vec![
        report("Windtunnel's executor", &Ours),
        report(&named("backoff", ""), &BackoffCrate),
        report(&named("backon", ""), &Backon(Adjust::Override)),
        report(&named("backon", ", careful"), &Backon(Adjust::Floor)),
        report(&named("exponential-backoff", ""), &ExponentialBackoff),
        report(&named("tokio-retry", ""), &TokioRetry),
        report(&named("tower", ""), &Tower),
        report(&named("tryhard", ""), &Tryhard),
    ]
}

/// What was seen where a point is broken, as far as it does not depend on chance that has no seed.
fn broken(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports.iter().filter(|report| !report.broken().is_empty()) {
        let _infallible = write!(text, "\n### {}\n\n", report.subject);
        for Judged { id, finding, .. } in &report.points {
            let Finding::Broken(found) = finding else { continue };
            let is_drawn = !report.kept().contains(&"same_seed") && found.case.contains("is_jittered: true");
            let seen = if is_drawn { "differs from run to run" } else { found.seen.lines().next().unwrap() };
            let policy = found.case.lines().next().unwrap().trim_start_matches("policy: ");
            let policy = if is_drawn { String::new() } else { format!(" With `{policy}`.") };
            let _infallible = writeln!(text, "- `{id}`: {seen}.{policy}");
        }
    }
    text
}

#[test]
fn the_table_of_published_crates_is_what_the_suite_measures() {
    let reports = reports();
    let measured = format!("{ABOUT}\n{}\n## What was seen\n{}", markdown_table(&reports), broken(&reports));
    let path = root().join("RETRY-CRATES.md");
    if std::env::var_os("WINDTUNNEL_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&path, &measured).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == measured, "proptests/RETRY-CRATES.md differs; WINDTUNNEL_UPDATE=1 accepts this:\n{measured}");
}
