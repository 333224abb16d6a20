//! What published crates keep, in a file that is held to what is measured.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use windtunnel_proptests::suites::{Finding, Judged, Report, markdown_table};

/// The crate's name and the version that is locked, and what is said beside.
pub(crate) fn named(name: &str, beside: &str) -> String {
    let lock = fs::read_to_string(root().join("../Cargo.lock")).unwrap();
    let lock: toml::Table = lock.parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let version = packages.iter().find(|package| package["name"].as_str() == Some(name)).unwrap()["version"].as_str();
    format!("{name} {}{beside}", version.unwrap())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
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
            let case = found.case.lines().next().unwrap();
            let case = case.trim_start_matches("policy: ").trim_start_matches("limits: ");
            let case = if is_drawn { String::new() } else { format!(" With `{case}`.") };
            let _infallible = writeln!(text, "- `{id}`: {seen}.{case}");
        }
    }
    text
}

/// Holds a file of this package to the reports, or writes it where the environment says so.
#[track_caller]
pub(crate) fn hold(file: &str, about: &str, reports: &[Report]) {
    let seen = match broken(reports) {
        none if none.is_empty() => "\nNo point is broken.\n".to_owned(),
        some => some,
    };
    let measured = format!("{about}\n{}\n## What was seen\n{seen}", markdown_table(reports));
    let path = root().join(file);
    if std::env::var_os("WINDTUNNEL_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&path, &measured).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == measured, "proptests/{file} differs; WINDTUNNEL_UPDATE=1 accepts this:\n{measured}");
}
