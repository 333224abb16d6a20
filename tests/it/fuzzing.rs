//! The seeds of fuzzing hold what the fuzzer asks of any bytes, so that neither rots.

use std::fs;
use std::path::PathBuf;

#[path = "../../fuzz/src/targets/mod.rs"]
#[expect(unreachable_pub, reason = "the crate of the fuzz targets exports them")]
mod targets;

/// Gives `target` each of its seeds, and the first part of each.
#[track_caller]
fn check(name: &str, target: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|seed| fs::read(seed.unwrap().path()).unwrap()).collect();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for seed in seeds {
        for eighth in 1..=8 {
            target(&seed[..seed.len() * eighth / 8]);
        }
    }
}

#[test]
fn cassettes_are_written_as_they_are_read() {
    check("cassette", targets::cassette);
}

#[test]
fn case_files_are_read_or_refused() {
    check("case", targets::case);
}

#[test]
fn programs_are_the_same_from_text_and_from_values() {
    check("program", targets::program);
}

#[test]
fn streams_are_read_the_same_in_any_pieces() {
    check("stream", targets::stream);
}

#[test]
fn what_is_redacted_stays_redacted() {
    check("redaction", targets::redaction);
}

#[test]
fn foreign_recordings_are_cassettes_and_archives_or_refused() {
    check("foreign", targets::foreign);
}

#[test]
fn a_recorded_server_answers_whatever_a_client_writes() {
    check("mcp", targets::mcp);
}

#[test]
fn responses_say_the_same_however_they_are_delivered() {
    check("delivery", targets::delivery);
}
