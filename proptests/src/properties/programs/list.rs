//! All properties of programs.

use super::{exact, model};
use crate::properties::Property;

pub(in crate::properties) fn properties() -> Vec<Property> {
    let mut properties = model::properties();
    properties.extend(exact::properties());
    properties
}
