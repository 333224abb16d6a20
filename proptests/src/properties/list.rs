//! All properties.

use super::{Property, batches, guards, journals, programs, queues, retry};

/// All properties, in order. What one says of itself in [`Property::id`] is its name in every report.
pub fn all() -> Vec<Property> {
    let mut properties = retry::properties();
    properties.extend(guards::properties());
    properties.extend(queues::properties());
    properties.extend(batches::properties());
    properties.extend(programs::properties());
    properties.extend(journals::properties());
    properties
}

/// Tries one property: the first byte chooses it, and its case is drawn from the others.
///
/// # Errors
/// What is broken, with the case.
pub fn try_bytes(bytes: &[u8]) -> Result<(), String> {
    let Some((chosen, bytes)) = bytes.split_first() else { return Ok(()) };
    let properties = all();
    let chosen = properties.get(usize::from(*chosen) % properties.len().max(1));
    chosen.map_or(Ok(()), |property| property.try_bytes(bytes))
}
