//! The chain of an error's sources.

use std::any::Any;
use std::error::Error;

use crate::env::panic_message;

/// How many sources are looked at: a chain may lead back to itself.
const CAUSES_MAX: usize = 64;

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source()).take(CAUSES_MAX)
}

/// The first error of type `T`.
pub(crate) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    causes(error).find_map(|error| error.downcast_ref())
}

/// All texts, for a log at DEBUG: they may hold secrets.
pub(crate) fn text(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// A tool's panic, as the foreign error it counts as (E14).
#[derive(Debug, thiserror::Error)]
#[error("the tool panicked: {0}")]
pub(crate) struct Panicked(String);

impl Panicked {
    pub(crate) fn of(payload: &(dyn Any + Send)) -> Self {
        Self(panic_message(payload).to_owned())
    }
}
