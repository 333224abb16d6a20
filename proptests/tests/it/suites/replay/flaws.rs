//! Deliberate mistakes of record/replay systems, and the points that must find them.

use windtunnel_proptests::suites::replay_suite;

use super::reference::Reference;
use crate::suites::checked::{check_flaws, settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    GivesWhatItKeeps,
    LosesTheLast,
    PlaysOnce,
    KeepsDroppedCalls,
    ForgetsWhatMayPass,
    JoinsPieces,
    ForgetsBreaks,
    AnswersAgain,
    ComparesNamesOnly,
    UsesUpAtAMiss,
    AsksTheLiveSide,
    NeedsNoOrder,
    NeedsOrderAlways,
    GivesTheLastFirst,
    TellsNoRest,
    MixesLanes,
    RecordsIntoTheLast,
    IgnoresToldSecrets,
    KnowsNoSecrets,
    ComparesWithSecrets,
    RedactsPieceByPiece,
}

/// Each mistake with a point that it must break.
const CAUGHT: &[(Flaw, &str)] = &[
    (Flaw::GivesWhatItKeeps, "transparent"),
    (Flaw::LosesTheLast, "identity"),
    (Flaw::PlaysOnce, "again"),
    (Flaw::KeepsDroppedCalls, "dropped_call"),
    (Flaw::ForgetsWhatMayPass, "failures"),
    (Flaw::JoinsPieces, "streams"),
    (Flaw::ForgetsBreaks, "streams"),
    (Flaw::AnswersAgain, "once"),
    (Flaw::ComparesNamesOnly, "miss"),
    (Flaw::UsesUpAtAMiss, "miss"),
    (Flaw::AsksTheLiveSide, "offline"),
    (Flaw::NeedsNoOrder, "strict_order"),
    (Flaw::NeedsOrderAlways, "keyed_order"),
    (Flaw::GivesTheLastFirst, "keyed_order"),
    (Flaw::TellsNoRest, "leftovers"),
    (Flaw::MixesLanes, "lanes"),
    (Flaw::RecordsIntoTheLast, "lanes_recorded"),
    (Flaw::IgnoresToldSecrets, "redaction"),
    (Flaw::ComparesWithSecrets, "redaction_replays"),
    (Flaw::RedactsPieceByPiece, "redaction_in_pieces"),
    (Flaw::KnowsNoSecrets, "known_secrets"),
    (Flaw::ComparesWithSecrets, "known_secrets_replay"),
];

#[test]
fn a_system_without_flaws_keeps_every_point() {
    let report = replay_suite().run("the reference", &Reference(None), &settings(64));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(replay_suite, CAUGHT, |flaw| Reference(Some(flaw)), &settings(64));
}
