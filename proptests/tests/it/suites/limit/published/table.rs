//! What published crates keep, in `proptests/LIMIT-CRATES.md`.

use windtunnel_proptests::suites::{LimitSubject, Report, Settings, limit_suite};

use super::async_lock::AsyncLock;
use super::leaky_bucket::LeakyBucket;
use super::tokio::Tokio;
use super::tower::Tower;
use crate::suites::limit::ours::{Evaluation, Guards, Provider};
use crate::suites::published_table::{hold, named};

fn report<S: LimitSubject>(name: &str, subject: &S) -> Report {
    // As many cases as the file was made with, whatever the environment says.
    limit_suite().run(name, subject, &Settings::default())
}

#[test]
fn the_table_of_published_crates_is_what_the_suite_measures() {
    let reports = [
        report("Windtunnel's executor", &Guards),
        report("Windtunnel's programs", &Evaluation),
        report("Windtunnel's simulated provider", &Provider),
        report(&named("async-lock", ""), &AsyncLock),
        report(&named("leaky-bucket", ""), &LeakyBucket),
        report(&named("tokio", ""), &Tokio),
        report(&named("tower", ""), &Tower),
    ];
    hold("LIMIT-CRATES.md", include_str!("about.md"), &reports);
}
