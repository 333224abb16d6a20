//! All points on providers of tools.

use super::{ToolProviderSubject, calls, failures, interrupted, listing};
use crate::suites::Suite;

/// What whatever offers tools should keep: a list that is stable and true, arguments and results that stay as they are,
/// errors that say whether they may pass, and that neither calls at once nor dropped ones disturb others.
///
/// For an example, see [`ToolProviderSubject`].
pub fn tool_provider_suite<S: ToolProviderSubject>() -> Suite<S> {
    let mut points = listing::points();
    points.extend(calls::points());
    points.extend(failures::points());
    points.extend(interrupted::points());
    Suite::new("tool provider", points)
}
