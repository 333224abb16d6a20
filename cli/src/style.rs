//! Colours, where they are wanted.

use std::env;
use std::io::{IsTerminal, stderr, stdout};

use clap::ValueEnum;

/// When there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colors {
    // On a terminal that has them, unless `NO_COLOR` is set. No doc comment: each would make all help long.
    Auto,
    Always,
    Never,
}

/// How texts are painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colors: Colors,
    is_coloured: bool,
}

impl Style {
    /// What was asked for, on standard output.
    pub(crate) fn of_stdout(colors: Colors) -> Self {
        Self::of(colors, &stdout())
    }

    /// The same on standard error.
    pub(crate) fn of_stderr(self) -> Self {
        Self::of(self.colors, &stderr())
    }

    fn of(colors: Colors, stream: &impl IsTerminal) -> Self {
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let is_coloured = match colors {
            Colors::Auto => stream.is_terminal() && !is_unwanted && !is_dumb,
            Colors::Always => true,
            Colors::Never => false,
        };
        Self { colors, is_coloured }
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.painted("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.painted("1;31", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.painted("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.painted("2", text)
    }

    fn painted(self, code: &str, text: &str) -> String {
        if self.is_coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
