//! What runs at the same time (E10).

use std::sync::Arc;

use crate::cases::{Caps, Policies};
use crate::span::Span;
use crate::violation::{Violation, require};

/// In each run, no more calls of a kind run at once than its cap allows. A call nested in one of its own kind shares
/// that one's place.
///
/// # Errors
/// [`Violation`] for the first moment at which a cap is exceeded.
pub fn caps_hold(spans: &[Span], policies: &Policies, caps: &Caps) -> Result<(), Violation> {
    let kind = |span: &Span| -> String {
        policies.get(&*span.tool).map_or_else(|| span.tool.to_string(), |policy| policy.kind(&span.tool).to_owned())
    };
    let counted = |span: &&Span| !enclosing(span, spans).iter().any(|outer| kind(outer) == kind(span));
    for span in spans.iter().filter(counted) {
        let Some(cap) = caps.get(&kind(span)) else { continue };
        // The most run at once when one of them has just begun.
        let at_once: Vec<_> = spans
            .iter()
            .filter(counted)
            .filter(|other| other.run_id == span.run_id && kind(other) == kind(span))
            .filter(|other| other.opens <= span.opens && span.opens < other.closes)
            .map(|other| &*other.call_id)
            .collect();
        require(at_once.len() <= *cap as usize, "E10", || {
            format!("calls {at_once:?} of kind {:?} run at once, and its cap is {cap}", kind(span))
        })?;
    }
    Ok(())
}

/// While an exclusive call runs, nothing else of its run does, except what is nested in it.
///
/// # Errors
/// [`Violation`] for the first call that runs beside an exclusive one.
pub fn exclusive_calls_run_alone(spans: &[Span], policies: &Policies) -> Result<(), Violation> {
    let is_outermost = |span: &&Span| enclosing(span, spans).is_empty();
    let is_exclusive = |span: &&Span| policies.get(&*span.tool).is_some_and(|policy| policy.is_exclusive);
    for alone in spans.iter().filter(is_outermost).filter(is_exclusive) {
        let beside = spans
            .iter()
            .filter(is_outermost)
            .find(|other| !std::ptr::eq(*other, alone) && other.run_id == alone.run_id && other.overlaps(alone));
        if let Some(other) = beside {
            return Err(Violation::new(
                "E10",
                format!("call {} runs beside the exclusive call {}", other.call_id, alone.call_id),
            ));
        }
    }
    Ok(())
}

/// The calls of the same run that a call is nested in, while they run.
fn enclosing<'a>(span: &Span, spans: &'a [Span]) -> Vec<&'a Span> {
    let mut enclosing: Vec<&Span> = Vec::new();
    let mut parent_id: Option<&Arc<str>> = span.parent_id.as_ref();
    while let Some(wanted) = parent_id {
        let outer = spans.iter().find(|outer| {
            outer.run_id == span.run_id
                && outer.call_id == *wanted
                && outer.opens < span.opens
                && span.opens < outer.closes
                && !enclosing.iter().any(|known| std::ptr::eq(*known, *outer))
        });
        let Some(outer) = outer else { break };
        enclosing.push(outer);
        parent_id = outer.parent_id.as_ref();
    }
    enclosing
}
