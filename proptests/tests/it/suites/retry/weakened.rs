//! The suite keeps what is right, and finds what is wrong.

use std::time::Duration;

use windtunnel_proptests::suites::{Answer, ErrorClass, RetryPolicy, RetryTrial, Settings, retry_suite};

use super::super::checked::{check_flaws, settings};
use super::flaws::{CAUGHT, Flaw};
use super::reference::Reference;

#[test]
fn a_loop_without_flaws_keeps_every_point() {
    let report = retry_suite().run("the reference", &Reference::default(), &settings(64));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(retry_suite, CAUGHT, Reference::with, &settings(64));
}

#[test]
fn a_counterexample_is_small_and_says_how_to_try_it_again() {
    let report = retry_suite().only(&["attempts"]).run(
        "one more",
        &Reference::with(Flaw::RetriesOnceMore),
        &Settings::default(),
    );
    insta::assert_snapshot!(report.to_string(), @r#"
    one more on the suite "retry": 0 points kept, 1 broken, 0 not applicable
    BROKEN: attempts: it calls until the first success, and at most `retries` times after the first
    calls due: 1, but there were 2 calls: at 0ns, at 30ms; at 30ms call 2 failed (Transient)
        policy: RetryPolicy { retries: 0, base: Duration::from_millis(30), cap: Duration::from_millis(60), ..RetryPolicy::default() }
        answers: vec![Answer::failure(Duration::ZERO, ErrorClass::Transient)]
    to try it again:
        let trial = RetryTrial {
            policy: RetryPolicy { retries: 0, base: Duration::from_millis(30), cap: Duration::from_millis(60), ..RetryPolicy::default() },
            answers: vec![Answer::failure(Duration::ZERO, ErrorClass::Transient)],
            cancel_after: None,
        };
        println!("{}", trial.play(&subject));
    "#);
}

/// The lines that the test above prints.
#[test]
fn what_is_printed_tries_the_case_again() {
    let subject = Reference::with(Flaw::RetriesOnceMore);
    let trial = RetryTrial {
        policy: RetryPolicy {
            retries: 0,
            base: Duration::from_millis(30),
            cap: Duration::from_millis(60),
            ..RetryPolicy::default()
        },
        answers: vec![Answer::failure(Duration::ZERO, ErrorClass::Transient)],
        cancel_after: None,
    };
    let played = trial.play(&subject).to_string();
    assert_eq!(played, "2 calls: at 0ns, at 30ms; at 30ms call 2 failed (Transient)");
}
