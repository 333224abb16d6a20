//! Colours, where they are wanted.

use std::env;
use std::io::{IsTerminal, stderr, stdout};

/// How texts are painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    is_coloured: bool,
}

impl Style {
    /// Colours on a terminal, unless `NO_COLOR` is set or the terminal has none.
    pub(crate) fn of_stdout() -> Self {
        Self::of(&stdout())
    }

    /// The same for standard error.
    pub(crate) fn of_stderr() -> Self {
        Self::of(&stderr())
    }

    fn of(stream: &impl IsTerminal) -> Self {
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Self { is_coloured: stream.is_terminal() && !is_unwanted && !is_dumb }
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
