//! A case in which a point is broken.

use std::fmt;

/// What a point tries, in plain data.
pub trait Case: fmt::Debug {
    /// The case for a reader. Its `Debug` form, unless it can say it better.
    fn show(&self) -> String {
        format!("{self:#?}")
    }

    /// A few lines of Rust that try the case again, where there are such.
    fn reproduce(&self) -> Option<String> {
        None
    }
}

/// The smallest case that was found in which a point is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The case, for a reader.
    pub case: String,
    /// What was seen, and what should have been.
    pub seen: String,
    /// A few lines of Rust that try the case again, where there are such.
    pub reproduce: Option<String>,
}

impl Counterexample {
    pub(super) fn of(case: &impl Case, seen: impl Into<String>) -> Self {
        Self { case: case.show(), seen: seen.into(), reproduce: case.reproduce() }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, seen, reproduce } = self;
        write!(formatter, "{seen}\n{}", indented(case))?;
        match reproduce {
            Some(lines) => write!(formatter, "\nto try it again:\n{}", indented(lines)),
            None => Ok(()),
        }
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}
