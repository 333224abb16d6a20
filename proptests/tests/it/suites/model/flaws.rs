//! Deliberate mistakes of transports, and the points that must find them.

use windtunnel_proptests::suites::{Finding, model_transport_suite};

use super::reference::Reference;
use crate::suites::checked::{check_flaws, settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    DropsSystemMessages,
    ForgetsTemperature,
    MakesKeysOfItsOwn,
    ForgetsKeys,
    TrimsText,
    TakesEveryEndForStop,
    CountsUsageTwice,
    TellsNoUsageInStreams,
    AsksTwice,
    SharesAnAnswer,
    LosesAPiece,
    BeginsCallsLate,
    EndsTwice,
    HasNoEnd,
    MakesUpAnEnd,
    SwallowsBreaks,
    TakesEveryErrorForTheServers,
    ForgetsRetryAfter,
    LeaksDroppedCalls,
    LeaksDroppedStreams,
}

/// Each mistake with a point that it must break.
const CAUGHT: &[(Flaw, &str)] = &[
    (Flaw::DropsSystemMessages, "request_arrives"),
    (Flaw::ForgetsTemperature, "request_arrives"),
    (Flaw::MakesKeysOfItsOwn, "idempotency_key"),
    (Flaw::ForgetsKeys, "idempotency_key"),
    (Flaw::TrimsText, "whole_response"),
    (Flaw::TakesEveryEndForStop, "whole_response"),
    (Flaw::CountsUsageTwice, "usage"),
    (Flaw::TellsNoUsageInStreams, "usage"),
    (Flaw::AsksTwice, "asked_once"),
    (Flaw::SharesAnAnswer, "at_once"),
    (Flaw::LosesAPiece, "stream_assembles"),
    (Flaw::BeginsCallsLate, "deltas_in_order"),
    (Flaw::EndsTwice, "one_end"),
    (Flaw::HasNoEnd, "one_end"),
    (Flaw::MakesUpAnEnd, "broken_stream"),
    (Flaw::SwallowsBreaks, "broken_stream"),
    (Flaw::TakesEveryErrorForTheServers, "error_kind"),
    (Flaw::ForgetsRetryAfter, "retry_after"),
    (Flaw::LeaksDroppedCalls, "dropped_call"),
    (Flaw::LeaksDroppedStreams, "dropped_stream"),
];

#[test]
fn a_transport_without_flaws_keeps_every_point() {
    let report = model_transport_suite().run("the reference", &Reference(None), &settings(64));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(model_transport_suite, CAUGHT, |flaw| Reference(Some(flaw)), &settings(64));
}

#[test]
fn a_counterexample_is_small() {
    let suite = model_transport_suite().only(&["retry_after"]);
    let report = suite.run("forgetful", &Reference(Some(Flaw::ForgetsRetryAfter)), &settings(64));
    let Some(Finding::Broken(found)) = report.finding("retry_after") else { panic!("{report}") };
    assert_eq!(found.case.matches("ModelExchangeCase").count(), 1, "{report}");
    insta::assert_snapshot!(found.reproduce.as_ref().unwrap(), @r#"
    let settings = Settings { cases: 1, seed: 0 };
    println!("{}", model_transport_suite().only(&["retry_after"]).run("again", &subject, &settings));
    "#);
}
