//! Cases whose journal is kept in a file come out as those whose journal is in memory.

use windtunnel_core::durable::sqlite::{JournalFile, verify};
use windtunnel_sim::case::{Case, CaseOutcome};

use crate::conformance::{case, values};

const FILES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/agent.jsonl"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/operation.jsonl"),
];

/// The first ones of each file, and then every so manieth.
const FIRST: usize = 12;
const STEP: usize = 10;

fn check(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let in_memory = case.run(case.seed());
    let in_file = case.run_with_journal(case.seed(), &path).unwrap();
    let lines = |run: &windtunnel_sim::case::CaseRun| serde_json::to_string(run.trace()).unwrap();
    assert_eq!(lines(&in_memory), lines(&in_file), "{}", case.id());
    assert_eq!(case.judge(&in_memory), case.judge(&in_file), "{}", case.id());
    assert!(verify(&path).unwrap().is_sound(), "{}", case.id());
    let reading = JournalFile::open(&path).unwrap().workflow_at(1).unwrap().unwrap();
    let has_journal = match (&in_memory.outcome, &in_file.outcome) {
        (CaseOutcome::Agent(in_memory), CaseOutcome::Agent(in_file)) => {
            assert_eq!(in_memory.to_json(), in_file.to_json(), "{}", case.id());
            let read = reading.activations.iter().flatten();
            assert!(read.eq(in_memory.activations.iter().map(|activation| &activation.history)), "{}", case.id());
            true
        }
        (CaseOutcome::Operations(in_memory), CaseOutcome::Operations(in_file)) => {
            assert_eq!(in_memory.journal, in_file.journal, "{}", case.id());
            let read = reading.activations.iter().flatten().flat_map(|activation| &activation.records);
            assert!(read.map(|committed| &committed.record).eq(&in_memory.journal), "{}", case.id());
            true
        }
        _ => false,
    };
    assert!(has_journal, "{} has no journal", case.id());
}

#[test]
fn a_journal_in_a_file_changes_no_run() {
    for file in FILES {
        let values = values(file);
        let chosen = values.iter().enumerate().filter(|(index, _)| *index < FIRST || index % STEP == 0);
        chosen.for_each(|(_, value)| check(&case(value)));
    }
}
