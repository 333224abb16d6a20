//! The branches of a program whose failures are collected, for people.

use std::io::{self, Write};

use windtunnel_core::evaluator::BranchOutcome;

use crate::printable;
use crate::style::Style;

pub(crate) fn write(branches: &[BranchOutcome], style: Style, out: &mut impl Write) -> io::Result<()> {
    branches.iter().enumerate().try_for_each(|(index, branch)| {
        write!(out, "branches[{index}]: ")?;
        match branch {
            BranchOutcome::Success(value) => writeln!(out, "ok {}", printable::line(&value.to_string())),
            BranchOutcome::Failure { kind, message } => {
                writeln!(out, "{} {kind}: {}", style.bad("FAILED"), printable::line(message))
            }
        }
    })
}
