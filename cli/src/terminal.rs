//! The terminal that the command writes to.

use console::Term;

/// How many columns standard output has, if it is a terminal.
pub(crate) fn width() -> Option<u16> {
    Term::stdout().size_checked().map(|(_rows, columns)| columns)
}
