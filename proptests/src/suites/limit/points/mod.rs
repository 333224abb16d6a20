//! The points, one family a file.

mod at_once;
mod calls;
mod costs;
mod list;
mod release;
mod tried;
mod windows;

pub(super) use list::all;
