//! The events of a JSON text, under bounds, with the place of each.

use json_event_parser::{JsonEvent, LowLevelJsonParser};
use serde_json::Number;

use super::{Bounds, BoundsError, ParseError, ParseErrorKind, Path};

/// Something that is built from the events of a text.
pub(crate) trait Build<'text> {
    /// Takes the next event, whose token begins at `offset`.
    fn take(&mut self, event: JsonEvent<'text>, offset: usize) -> Result<(), ParseErrorKind>;

    /// The place reached.
    fn place(&self) -> Path;
}

/// Hands the events of `text` to `builder`, one after another.
pub(crate) fn build<'text>(
    text: &'text str,
    bounds: Bounds,
    builder: &mut impl Build<'text>,
) -> Result<(), ParseError> {
    if text.len() > bounds.bytes_max {
        let too_large = BoundsError::TooLarge { path: Path::root(), bytes: text.len(), bytes_max: bounds.bytes_max };
        return Err(at(text, 0, too_large.into()));
    }
    let mut parser = LowLevelJsonParser::new().with_max_stack_size(bounds.depth_max.saturating_add(2));
    let mut depth = 0_usize;
    let mut offset = 0;
    loop {
        let step = parser.parse_next(&text.as_bytes()[offset..], true);
        let begin = token_start(text, offset);
        offset += step.consumed_bytes;
        match step.event {
            Some(Ok(JsonEvent::Eof)) | None => return Ok(()),
            Some(Ok(event)) => {
                match event {
                    JsonEvent::StartArray | JsonEvent::StartObject if depth == bounds.depth_max => {
                        let too_deep = BoundsError::TooDeep { path: builder.place(), depth_max: bounds.depth_max };
                        return Err(at(text, begin, too_deep.into()));
                    }
                    JsonEvent::StartArray | JsonEvent::StartObject => depth += 1,
                    JsonEvent::EndArray | JsonEvent::EndObject => depth = depth.saturating_sub(1),
                    _ => {}
                }
                builder.take(event, begin).map_err(|kind| at(text, begin, kind))?;
            }
            Some(Err(error)) => {
                let kind = ParseErrorKind::Syntax { path: builder.place(), message: error.message().to_owned() };
                let offset = usize::try_from(error.location().start.offset).unwrap_or(text.len());
                return Err(at(text, offset, kind));
            }
        }
    }
}

/// The number that `text` stands for, unless it does not fit.
pub(crate) fn number(text: &str) -> Option<Number> {
    let is_float = text == "-0" || text.contains(['.', 'e', 'E']);
    if is_float {
        return text.parse().ok().and_then(Number::from_f64);
    }
    let signed = text.parse::<i64>().ok().map(Number::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Number::from))
}

/// The line and the column in characters of `offset`, each from 1.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// The error `kind` at `offset`.
pub(crate) fn at(text: &str, offset: usize, kind: ParseErrorKind) -> ParseError {
    let (line, column) = position(text, offset);
    ParseError { line, column, kind }
}

/// Where the token begins that a parser standing at `offset` reads next.
fn token_start(text: &str, offset: usize) -> usize {
    let skipped = |letter: char| letter.is_ascii_whitespace() || letter == ',' || letter == ':';
    text[offset..].find(|letter| !skipped(letter)).map_or(text.len(), |found| offset + found)
}
