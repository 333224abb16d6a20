//! The points, one family a file.

mod attempts;
mod budgets;
mod cancellation;
mod chance;
mod classes;
mod deadlines;
mod delays;
mod extremes;
mod list;
mod retry_after;
mod tried;

pub(super) use list::all;
