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
        let Some(Finding::Broken(found)) = report.finding(id) else { panic!("{flaw:?} is not caught: {report}") };
        let lines = found.reproduce.as_ref().unwrap_or_else(|| panic!("nothing says how to try it again: {report}"));
        assert!(lines.contains("&subject"), "{report}");
    }
    check_reproduced(&suite().only(&[caught[0].1]), &subject(caught[0].0), settings);
    let suite = suite();
    let ids: BTreeSet<_> = suite.points().iter().map(Point::id).collect();
    assert_eq!(ids.len(), suite.points().len(), "ids are unique");
    let untried = suite.points().iter().map(Point::id).filter(|id| caught.iter().all(|(_, caught)| caught != id));
    assert_eq!(untried.collect::<Vec<_>>(), [""; 0], "points that no mistake breaks");
}

/// The settings that a finding names find the same, with no more cases than it takes.
fn check_reproduced<S>(suite: &Suite<S>, subject: &S, settings: &Settings) {
    let report = suite.run("flawed", subject, settings);
    let [Finding::Broken(found)] = &report.points.iter().map(|point| &point.finding).collect::<Vec<_>>()[..] else {
        panic!("{report}");
    };
    let again = suite.run("flawed", subject, &found.settings);
    assert!(found.settings.cases <= settings.cases && again.broken() == report.broken(), "{again}");
}
