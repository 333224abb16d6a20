//! The cases of a file.

use serde_json::Value;
use windtunnel_core::json::{Bounds, Path};

use super::places::Places;
use super::{Document, Format, json, toml};
use crate::case::error::LoadError;

/// Splits the text of a file into its cases. Numbers have kept their identity, and all bounds hold.
pub(in crate::case) fn documents<'t>(
    file: &'t str,
    format: Format,
    text: &'t str,
    bounds: Bounds,
) -> Result<Vec<Document<'t>>, LoadError> {
    let mut places = Places::new(file, text, 1);
    let mut whole = |(begin, root, value)| {
        let begin = places.at(begin);
        Document { file, value, root, format, text, first_line: 1, begin }
    };
    match format {
        Format::Json => Ok(match json::parse(file, text, 1, bounds)? {
            Value::Array(elements) => {
                let roots = (0..).map(|index| Path::root().element(index));
                let located = json::element_offsets(text).into_iter().zip(roots).zip(elements);
                located.map(|((begin, root), value)| whole((begin, root, value))).collect()
            }
            value => vec![whole((json::token_start(text, 0), Path::root(), value))],
        }),
        Format::JsonLines => {
            let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
            let document = |(text, first_line)| {
                let value = json::parse(file, text, first_line, bounds)?;
                let begin = Places::new(file, text, first_line).at(json::token_start(text, 0));
                Ok(Document { file, value, root: Path::root(), format, text, first_line, begin })
            };
            lines.map(document).collect()
        }
        Format::Toml => Ok(toml::parse(file, text, bounds)?.into_iter().map(whole).collect()),
    }
}

/// The text of a file as one value. Numbers have kept their identity, and all bounds hold.
pub(in crate::case) fn whole<'t>(
    file: &'t str,
    format: Format,
    text: &'t str,
    bounds: Bounds,
) -> Result<Document<'t>, LoadError> {
    let value = match format {
        Format::Json | Format::JsonLines => json::parse(file, text, 1, bounds)?,
        Format::Toml => toml::parse_whole(file, text, bounds)?,
    };
    let begin = Places::new(file, text, 1).at(if format == Format::Toml { 0 } else { json::token_start(text, 0) });
    Ok(Document { file, value, root: Path::root(), format, text, first_line: 1, begin })
}
