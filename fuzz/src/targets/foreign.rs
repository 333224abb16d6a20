//! Recordings of other tools.

use windtunnel::fixtures::cassette::{Cassette, Exchange};
use windtunnel::fixtures::foreign::{Format, export_har, import};
use windtunnel::fixtures::redaction::{Rules, lint};

/// Times up to here are exact in an archive, which has floats of milliseconds, and whose years end with 9999.
const EXACT_US: u64 = 1 << 50;

/// Any text is a recording or an error, in either form. What is read of it is written as a cassette that reads the same, and
/// as an archive that is read as the same cassette.
pub fn foreign(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in [Format::Vcr, Format::Har] {
        let Ok(imported) = import(text, format, Rules::none()) else { continue };
        check(&imported.cassette);
        if let Ok(redacted) = import(text, format, Rules::default()) {
            assert_eq!(redacted.skipped, imported.skipped);
            assert_eq!(lint(&redacted.cassette), [], "in\n{}", redacted.cassette.to_json());
            check(&redacted.cassette);
        }
    }
}

fn check(cassette: &Cassette) {
    let written = cassette.to_json();
    assert_eq!(Cassette::from_json(&written).as_ref(), Ok(cassette), "written as\n{written}");
    let exported = export_har(cassette);
    assert_eq!(exported.left_out, [0; 0]);
    let back = import(&exported.text, Format::Har, Rules::none());
    assert!(back.as_ref().is_ok_and(|back| back.skipped.is_empty()), "{back:?} of\n{}", exported.text);
    if is_exact(cassette) {
        assert_eq!(back.unwrap().cassette, *cassette, "exported as\n{}", exported.text);
    }
}

fn is_exact(cassette: &Cassette) -> bool {
    cassette.entries.iter().all(|entry| match &entry.exchange {
        Exchange::Http(http) => entry.started_us.max(http.response.end_us) <= EXACT_US,
        _ => true,
    })
}
