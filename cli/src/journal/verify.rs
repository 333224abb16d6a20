//! `windtunnel journal verify`: is a file as it was stored?

use std::io::{self, Write};

use serde_json::{Value, json};
use windtunnel_core::durable::sqlite::{self, FileReport};

use super::arguments::VerifyOptions;
use super::document;
use super::text::{counted, write_finding};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::status::Status;
use crate::style::Style;

pub(super) fn verify(
    options: &VerifyOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let file = options.file.clone();
    let Some(report) = pool::interruptible(interrupt, move || sqlite::verify(file))? else {
        return Ok(Status::Interrupted);
    };
    let report = report?;
    if options.json {
        printable::write_json(out, &to_json(&options.file, &report))?;
    } else {
        write_report(&report, style, out)?;
    }
    Ok(if report.is_sound() { Status::Passed } else { Status::Failed })
}

fn write_report(report: &FileReport, style: Style, out: &mut impl Write) -> io::Result<()> {
    report.findings.iter().try_for_each(|finding| write_finding("", finding, style, out))?;
    let sound = [
        (report.sound_workflows, "workflow"),
        (report.sound_activations, "activation"),
        (report.sound_records, "record"),
        (report.sound_events, "event"),
    ];
    let sound = sound.map(|(count, name)| counted(count, name)).join(", ");
    writeln!(out, "sound: {sound}")?;
    match report.findings.len() {
        0 => writeln!(out, "{}", style.good("the file is sound")),
        damaged => {
            writeln!(out, "{}", style.bad(&format!("the file is damaged: {}", counted(damaged as u64, "finding"))))
        }
    }
}

fn to_json(file: &str, report: &FileReport) -> Value {
    json!({
        "format": document::FORMAT,
        "file": file,
        "sound": report.is_sound(),
        "findings": report.findings.iter().map(document::finding).collect::<Value>(),
        "sound_workflows": report.sound_workflows,
        "sound_activations": report.sound_activations,
        "sound_records": report.sound_records,
        "sound_events": report.sound_events,
    })
}
