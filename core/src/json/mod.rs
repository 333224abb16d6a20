//! JSON with its identity kept: numbers that differ stay different, bounds are checked, digests are canonical.
//!
//! `1` and `1.0` are different values, an integer that fits neither `i64` nor `u64` is refused rather than rounded, and
//! the order of an object's members is kept but is not part of its identity.

mod bounds;
mod canonical;
mod events;
mod parse;
mod path;

pub use bounds::{Bounds, BoundsError};
pub use canonical::{canonical, digest};
pub(crate) use canonical::{dismantle, hexadecimal, push_compact, push_string};
pub(crate) use events::{Build, at, build, number, position};
pub use parse::{ParseError, ParseErrorKind, parse};
pub use path::Path;
