//! From two names of traces to what is printed of them.

use std::io::Write;

use super::arguments::DiffOptions;
use super::comparison::compare;
use super::{document, text, trace};
use crate::arguments::Format;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::status::Status;
use crate::style::Style;
use crate::terminal;

pub(crate) fn perform(
    options: &DiffOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let names = [&*options.first, &*options.second];
    let reading = options.clone();
    let read = pool::interruptible(interrupt, move || {
        let read = |reference: &str| trace::read(reference, reading.case.as_deref());
        Ok::<_, Failure>((read(&reading.first)?, read(&reading.second)?))
    })?;
    let Some((first, second)) = read.transpose()? else { return Ok(Status::Interrupted) };
    let compared = compare(&first, &second, &options.ignore, options.context);
    match (options.format, &compared) {
        (Format::Json, _) => {
            let events = [first.len(), second.len()];
            printable::write_json(out, &document::document(compared.as_ref(), names, events))?;
        }
        (Format::Text, Some(comparison)) => text::write(comparison, names, terminal::width(), style, out)?,
        (Format::Text, None) => writeln!(out, "{}: {} events", style.good("the same"), first.len())?,
    }
    Ok(if compared.is_none() { Status::Passed } else { Status::Failed })
}
