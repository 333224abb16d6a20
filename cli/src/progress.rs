//! How far the work has come: a bar on a terminal, a line now and then elsewhere, on standard error.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Format;
use crate::stopwatch::Stopwatch;
use crate::style::Style;

/// Shows how far the work has come, how fast, and how much of it has failed so far.
pub(crate) struct Progress {
    shown: Shown,
    style: Style,
    name: String,
    /// What is counted: `seeds`, `runs`.
    unit: &'static str,
    done: u64,
    all: u64,
    failing: u64,
    watch: Stopwatch,
}

enum Shown {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl Progress {
    /// Progress through `all` of the case `name`; none beside JSON.
    pub(crate) fn new(name: &str, unit: &'static str, all: u64, format: Format, style: Style) -> Self {
        let style = style.of_stderr();
        let shown = match format {
            Format::Json => Shown::Nothing,
            Format::Text if stderr().is_terminal() => Shown::Bar(bar(name, unit, all)),
            Format::Text => Shown::Lines,
        };
        let (name, watch) = (name.to_owned(), Stopwatch::start());
        let progress = Self { shown, style, name, unit, done: 0, all, failing: 0, watch };
        if matches!(progress.shown, Shown::Lines) && all > 0 {
            progress.write_line();
        }
        progress
    }

    /// More is to be done than was known.
    pub(crate) fn extend(&mut self, more: u64) {
        self.all += more;
        if let Shown::Bar(bar) = &self.shown {
            bar.inc_length(more);
        }
    }

    /// One more is done.
    pub(crate) fn advance(&mut self, has_failed: bool) {
        self.done += 1;
        self.failing += u64::from(has_failed);
        match &self.shown {
            Shown::Bar(bar) => {
                if has_failed {
                    bar.set_prefix(self.style.bad(&format!("{} failed, ", self.failing)));
                }
                bar.inc(1);
            }
            Shown::Lines if self.is_told() => self.write_line(),
            Shown::Lines | Shown::Nothing => {}
        }
    }

    /// Nothing more comes.
    pub(crate) fn finish(&mut self) {
        if let Shown::Bar(bar) = std::mem::replace(&mut self.shown, Shown::Nothing) {
            bar.finish_and_clear();
        }
    }

    /// Ten lines, whatever the number.
    fn is_told(&self) -> bool {
        self.done == self.all || self.done.is_multiple_of(self.all.div_ceil(10).max(1))
    }

    /// Where it cannot be written nobody misses it.
    fn write_line(&self) {
        let Self { name, unit, done, all, failing, .. } = self;
        let rate = match done {
            0 => String::new(),
            _ => format!(", {:.0} a second", *done as f64 / self.watch.elapsed().as_secs_f64().max(1e-9)),
        };
        let _unwritten = writeln!(stderr().lock(), "{name}: {done} of {all} {unit}, {failing} failed{rate}");
    }
}

fn bar(name: &str, unit: &str, all: u64) -> ProgressBar {
    let template = format!("{{msg}} {{wide_bar}} {{pos}} of {{len}} {unit}, {{prefix}}{{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(all).with_style(style).with_message(name.to_owned())
}
