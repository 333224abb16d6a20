//! What published crates keep, in `proptests/RETRY-CRATES.md`.

use windtunnel_proptests::suites::{Report, RetrySubject, Settings, retry_suite};

use super::backoff::BackoffCrate;
use super::backon::{Adjust, Backon};
use super::exponential_backoff::ExponentialBackoff;
use super::tokio_retry::TokioRetry;
use super::tower::Tower;
use super::tryhard::Tryhard;
use crate::suites::published_table::{hold, named};
use crate::suites::retry::durable::Workflows;
use crate::suites::retry::evaluator::Programs;
use crate::suites::retry::ours::Ours;

fn report<S: RetrySubject>(name: &str, subject: &S) -> Report {
    // As many cases as the file was made with, whatever the environment says.
    retry_suite().run(name, subject, &Settings::default())
}

#[test]
fn the_table_of_published_crates_is_what_the_suite_measures() {
    let reports = [
        report("Windtunnel's executor", &Ours),
        report("Windtunnel's programs", &Programs),
        report("Windtunnel's workflows, tools", &Workflows::Tool),
        report("Windtunnel's workflows, models", &Workflows::Model),
        report(&named("backoff", ""), &BackoffCrate),
        report(&named("backon", ""), &Backon(Adjust::Override)),
        report(&named("backon", ", careful"), &Backon(Adjust::Floor)),
        report(&named("exponential-backoff", ""), &ExponentialBackoff),
        report(&named("tokio-retry", ""), &TokioRetry),
        report(&named("tower", ""), &Tower),
        report(&named("tryhard", ""), &Tryhard),
    ];
    hold("RETRY-CRATES.md", include_str!("about.md"), &reports);
}
