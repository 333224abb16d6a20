//! The suite keeps what is right, and finds what is wrong.

use windtunnel_proptests::suites::{Finding, Point, Settings, limit_suite};

use super::flaws::{CAUGHT, Flaw};
use super::reference::Reference;

#[test]
fn a_limiter_without_flaws_keeps_every_point() {
    let report =
        limit_suite().run("the reference", &Reference::default(), &Settings::default().from_environment().unwrap());
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point() {
    for (flaw, id) in CAUGHT {
        let report = limit_suite().only(&[id]).run(&format!("{flaw:?}"), &Reference(Some(*flaw)), &Settings::default());
        assert!(matches!(report.finding(id), Some(Finding::Broken(_))), "{report}");
    }
}

#[test]
fn each_point_has_a_flaw_that_breaks_it() {
    let suite = limit_suite::<Reference>();
    let ids: Vec<_> = suite.points().iter().map(Point::id).collect();
    let different: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(different.len(), ids.len(), "ids are unique");
    let untried: Vec<_> = ids.iter().filter(|id| CAUGHT.iter().all(|(_, caught)| caught != *id)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

#[test]
fn a_counterexample_is_small_and_says_how_to_try_it_again() {
    let weak = Reference(Some(Flaw::CountsWhenDone));
    let report = limit_suite().only(&["calls_max"]).run("counts when done", &weak, &Settings::default());
    insta::assert_snapshot!(report.to_string(), @r#"
    counts when done on the suite "limit": 0 points kept, 1 broken, 0 not applicable
    BROKEN: calls_max: no more than `calls_max` calls are let in, also at once
    calls allowed: 1, let in: 2, but there was call 1 from 0ns to 1ms, call 2 from 0ns to 1ms
        limits: LimitPolicy { calls_max: Some(1), ..LimitPolicy::default() }
        calls:
            CallPlan { at: Duration::ZERO, takes: Duration::from_millis(1), ..CallPlan::default() }
            CallPlan { at: Duration::ZERO, takes: Duration::from_millis(1), ..CallPlan::default() }
    to try it again:
        let trial = LimitTrial {
            limits: LimitPolicy { calls_max: Some(1), ..LimitPolicy::default() },
            calls: vec![
                CallPlan { at: Duration::ZERO, takes: Duration::from_millis(1), ..CallPlan::default() },
                CallPlan { at: Duration::ZERO, takes: Duration::from_millis(1), ..CallPlan::default() },
            ],
        };
        println!("{}", trial.play(&subject));
    "#);
}
