//! `windtunnel journal show`: what is committed.

use std::io::{self, Write};

use windtunnel_core::durable::sqlite::{Finding, WorkflowReading};

use super::arguments::ShowOptions;
use super::source::Opened;
use super::{document, text};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable;
use crate::status::Status;
use crate::style::Style;

/// How much was shown.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) workflows: usize,
    pub(super) activations: usize,
    pub(super) records: usize,
    /// Everything that is wrong, with the file itself too.
    pub(super) findings: usize,
}

impl Counts {
    fn add(&mut self, workflow: &Result<WorkflowReading, Finding>) {
        self.workflows += 1;
        let Ok(workflow) = workflow else {
            self.findings += 1;
            return;
        };
        self.findings += workflow.findings().count();
        for activation in workflow.activations.iter().flatten() {
            self.activations += 1;
            self.records += activation.records.len();
        }
    }
}

pub(super) fn show(
    options: &ShowOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let opened = Opened::open(&options.file, options.workflow.as_deref(), interrupt)?;
    let Some(opened) = opened else { return Ok(Status::Interrupted) };
    let mut counts = Counts { findings: opened.findings().len(), ..Counts::default() };
    if options.json {
        document::write_begin(&options.file, opened.findings(), out)?;
    } else {
        opened.findings().iter().try_for_each(|finding| text::write_finding("", finding, style, out))?;
    }
    for workflow in opened.workflows(interrupt)? {
        let workflow = workflow?;
        if options.json {
            write_element(counts.workflows, &document::workflow(&workflow, options.values), out)?;
        } else {
            text::write_workflow(&workflow, options.values, style, out)?;
        }
        counts.add(&workflow);
    }
    let is_interrupted = interrupt.is_pressed();
    if options.json {
        document::write_end(is_interrupted, out)?;
    } else {
        text::write_counts(&counts, is_interrupted, style, out)?;
    }
    Ok(match counts {
        _ if is_interrupted => Status::Interrupted,
        Counts { findings: 1.., .. } => Status::Failed,
        _ => Status::Passed,
    })
}

/// Each element on a line of its own, as they come: the document may be larger than the memory.
fn write_element(before: usize, element: &serde_json::Value, out: &mut impl Write) -> io::Result<()> {
    let comma = if before > 0 { "," } else { "" };
    write!(out, "{comma}\n{}", printable::line(&element.to_string()))
}
