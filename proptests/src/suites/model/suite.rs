//! All points on transports of models.

use super::{ModelTransportSubject, failures, interrupted, responses};
use crate::suites::Suite;

/// What whatever leads to a model should keep: whole responses and streams that are the same, ends, costs, errors,
/// keys, and that neither calls at once nor dropped ones disturb others.
///
/// For an example, see [`ModelTransportSubject`].
pub fn model_transport_suite<S: ModelTransportSubject>() -> Suite<S> {
    let mut points = responses::points();
    points.extend(failures::points());
    points.extend(interrupted::points());
    Suite::new("model transport", points)
}
