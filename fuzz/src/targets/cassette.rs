//! Cassettes: documents, and logs of recordings.

use windtunnel::fixtures::cassette::Cassette;
use windtunnel::fixtures::foreign::export_har;

/// What is read is written as a document that reads the same, and as an archive; a log reads wherever it is cut.
pub fn cassette(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(cassette) = Cassette::from_json(text) else { return };
    let written = cassette.to_json();
    assert_eq!(Cassette::from_json(&written).as_ref(), Ok(&cassette), "written as\n{written}");
    assert!(export_har(&cassette).left_out.len() <= cassette.entries.len());
    let first_line = text.find('\n').map_or(text.len(), |end| end + 1);
    if text.starts_with("{\"windtunnel_cassette_log\"") {
        let cut = (first_line..text.len()).filter(|cut| text.is_char_boundary(*cut)).step_by(7);
        for cut in cut {
            assert!(Cassette::from_json(&text[..cut]).is_ok(), "cut at byte {cut}");
        }
    }
}
