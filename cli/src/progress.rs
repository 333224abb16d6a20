//! How far the work has come: a bar on a terminal, a line now and then elsewhere, on standard error.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Format;

/// Shows how far the work has come.
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines { name: String, done: u64, all: u64, failing: u64 },
    Silent,
}

impl Progress {
    /// Progress through `all` seeds of the case `name`; none beside JSON.
    pub(crate) fn new(name: &str, all: u64, format: Format) -> Self {
        match format {
            Format::Json => Self::Silent,
            Format::Text if stderr().is_terminal() => {
                let bar = ProgressBar::new(all);
                let template = "{msg} {wide_bar} {pos}/{len} {elapsed}";
                let style = ProgressStyle::with_template(template);
                Self::Bar(
                    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                        .with_message(name.to_owned()),
                )
            }
            Format::Text => {
                write_line(name, 0, all, 0);
                Self::Lines { name: name.to_owned(), done: 0, all, failing: 0 }
            }
        }
    }

    /// One more is done.
    pub(crate) fn advance(&mut self, has_failed: bool) {
        match self {
            Self::Bar(bar) => bar.inc(1),
            Self::Lines { name, done, all, failing } => {
                *done += 1;
                *failing += u64::from(has_failed);
                // Ten more lines, whatever the number.
                if *done == *all || *done % all.div_ceil(10) == 0 {
                    write_line(name, *done, *all, *failing);
                }
            }
            Self::Silent => {}
        }
    }

    /// Nothing more comes.
    pub(crate) fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Where it cannot be written nobody misses it.
fn write_line(name: &str, done: u64, all: u64, failing: u64) {
    let _unwritten = writeln!(stderr().lock(), "{name}: {done} of {all} seeds, {failing} failed");
}
