//! Where a report is asked for.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use windtunnel_sim::report::Report;

use crate::failure::Failure;
use crate::printable;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportOption {
    /// Also write what happened to this file, as a page for the browser
    #[arg(id = "report", long = "report", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl ReportOption {
    pub(crate) fn is_asked(&self) -> bool {
        self.file.is_some()
    }

    /// Refuses a file that cannot be written before anything runs for it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let problem = match folder {
            _ if file.is_dir() => Some("it is a folder; name a file in it"),
            _ if file.file_name().is_none() => Some("it names no file"),
            Some(folder) if !folder.is_dir() => Some("its folder is not there; make it first"),
            _ => None,
        };
        match problem {
            Some(problem) => Err(Failure::Selection(format!("--report {}: {problem}", file.display()))),
            None => Ok(()),
        }
    }

    /// Writes the report, and says so on standard error: standard output may be read by a program.
    pub(crate) fn save(&self, report: &Report) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        report.save(file)?;
        let name = file.display().to_string();
        // Where this cannot be written, the file is there all the same.
        let _unwritten = writeln!(io::stderr().lock(), "report: {}", printable::line(&name));
        Ok(())
    }
}
