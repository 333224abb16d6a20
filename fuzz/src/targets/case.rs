//! Case files.

use windtunnel::sim::case::{Case, Format, Tools};

/// Any text is a file of cases or of tools, or an error that says where.
pub fn case(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in [Format::Json, Format::JsonLines, Format::Toml] {
        match Case::parse("file", format, text) {
            Ok(cases) => assert!(!cases.is_empty()),
            Err(error) => assert!(error.to_string().starts_with("file"), "{error}"),
        }
        let _ = Tools::parse("file", format, text);
    }
}
