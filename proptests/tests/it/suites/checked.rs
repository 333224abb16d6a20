//! A suite keeps what is right, and finds what is wrong.

use std::collections::BTreeSet;
use std::fmt::Debug;

use windtunnel_proptests::suites::{Finding, Point, Settings, Suite};

/// As many cases as the environment says.
pub(crate) fn settings(cases: u32) -> Settings {
    Settings { cases, ..Settings::default() }.from_environment().unwrap()
}

/// Each mistake breaks the point it is listed with, and each point has a mistake that breaks it.
pub(crate) fn check_flaws<S, F: Debug + Copy>(
    suite: impl Fn() -> Suite<S>,
    caught: &[(F, &str)],
    subject: impl Fn(F) -> S,
    settings: &Settings,
) {
    for (flaw, id) in caught {
        let report = suite().only(&[id]).run(&format!("{flaw:?}"), &subject(*flaw), settings);
        assert!(matches!(report.finding(id), Some(Finding::Broken(_))), "{flaw:?} is not caught: {report}");
    }
    let suite = suite();
    let ids: BTreeSet<_> = suite.points().iter().map(Point::id).collect();
    assert_eq!(ids.len(), suite.points().len(), "ids are unique");
    let untried = suite.points().iter().map(Point::id).filter(|id| caught.iter().all(|(_, caught)| caught != id));
    assert_eq!(untried.collect::<Vec<_>>(), [""; 0], "points that no mistake breaks");
}
