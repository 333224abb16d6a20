//! Deliberate mistakes of providers, and the points that must find them.

use windtunnel_proptests::suites::tool_provider_suite;

use super::reference::Reference;
use crate::suites::checked::{check_flaws, settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    ListsNoTwin,
    ListsOneTwice,
    ListsInTurns,
    ListsAnySchema,
    DefinesByBeginning,
    OffersWhatItHasNot,
    CallsTheFirstForUnknown,
    ChecksNothing,
    ChangesArguments,
    CallsTwice,
    GivesNumbersAsFloats,
    GivesText,
    SharesAResult,
    TakesRejectionsForExecution,
    ForgetsMessages,
    TakesTimeoutsForUnclassified,
    TakesFailuresForUnclassified,
    TakesEveryFailureForExecution,
    TellsCauses,
    TakesControlFlowForFailure,
    LeaksPlaces,
    RunsOn,
}

/// Each mistake with a point that it must break.
const CAUGHT: &[(Flaw, &str)] = &[
    (Flaw::ListsNoTwin, "listing_whole"),
    (Flaw::ListsOneTwice, "listing_unique"),
    (Flaw::ListsInTurns, "listing_stable"),
    (Flaw::ListsAnySchema, "schemas"),
    (Flaw::DefinesByBeginning, "definition"),
    (Flaw::OffersWhatItHasNot, "listed_is_callable"),
    (Flaw::CallsTheFirstForUnknown, "unknown_tool"),
    (Flaw::ChecksNothing, "bad_arguments"),
    (Flaw::ChangesArguments, "arguments_arrive"),
    (Flaw::CallsTwice, "called_once"),
    (Flaw::GivesNumbersAsFloats, "results"),
    (Flaw::GivesText, "results"),
    (Flaw::SharesAResult, "at_once"),
    (Flaw::TakesRejectionsForExecution, "rejected_arguments"),
    (Flaw::ForgetsMessages, "failures"),
    (Flaw::TakesTimeoutsForUnclassified, "may_pass"),
    (Flaw::TakesFailuresForUnclassified, "may_pass"),
    (Flaw::TakesEveryFailureForExecution, "refusals"),
    (Flaw::TellsCauses, "cause_hidden"),
    (Flaw::TakesControlFlowForFailure, "control_flow"),
    (Flaw::LeaksPlaces, "dropped_call"),
    (Flaw::RunsOn, "dropped_is_over"),
];

#[test]
fn a_provider_without_flaws_keeps_every_point() {
    let report = tool_provider_suite().run("the reference", &Reference(None), &settings(64));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(tool_provider_suite, CAUGHT, |flaw| Reference(Some(flaw)), &settings(64));
}
