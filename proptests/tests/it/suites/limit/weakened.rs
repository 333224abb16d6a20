//! The suite keeps what is right, and finds what is wrong.

use windtunnel_proptests::suites::{Settings, limit_suite};

use super::super::checked::{check_flaws, settings};
use super::flaws::{CAUGHT, Flaw};
use super::reference::Reference;

#[test]
fn a_limiter_without_flaws_keeps_every_point() {
    let report = limit_suite().run("the reference", &Reference::default(), &settings(64));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(limit_suite, CAUGHT, |flaw| Reference(Some(flaw)), &settings(64));
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
