//! A case in which a point is broken.

use std::fmt;

use super::Settings;

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
    /// A few lines of Rust that try the case again, where there are such; else a suite says in one how the point is tried again.
    pub reproduce: Option<String>,
    /// With these settings its point finds it again, and tries no case after it.
    pub settings: Settings,
}

impl Counterexample {
    pub(super) fn of(case: &impl Case, seen: impl Into<String>, settings: Settings) -> Self {
        Self { case: case.show(), seen: seen.into(), reproduce: case.reproduce(), settings }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, seen, reproduce, .. } = self;
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
