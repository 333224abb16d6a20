//! What a campaign runs.

use crate::{Run, World};

/// Runs something in a world, to its end: a scenario, or a case of a file.
pub(crate) type Play<'a> = &'a (dyn Fn(World) -> Run<()> + Sync);
