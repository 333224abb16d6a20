//! Leaving out of a case what its failure does not need: tools, calls, steps, turns.

use std::sync::Arc;

use serde_json::Value;

use super::cassettes::Library;
use super::definition::Case;
use super::text::Format;
use crate::Failure;
use crate::campaign::minimize;

/// The lists of which parts may be left out: where they are, and what their parts are called.
const LISTS: [(&str, &str); 5] = [
    ("/calls", "calls"),
    ("/steps", "steps"),
    ("/model/turns", "turns"),
    ("/approvals", "approvals"),
    // Those that nobody calls any more.
    ("/tools", "tools"),
];

/// How many cases are tried at the most, whatever there is to be left out.
const TRIED_MAX: usize = 200;

/// A case, and how many parts were left out of it, by what they are called.
pub(super) struct Lean {
    pub(super) case: Value,
    pub(super) left_out: Vec<(&'static str, usize)>,
}

/// The case without what it does not take to fail in the same way, by the same faults.
pub(super) fn lean(case: Value, failure: &Failure, library: &Arc<Library>) -> Lean {
    let mut lean = Lean { case, left_out: Vec::new() };
    let is_calm_without = fails_by_faults(&lean.case, failure, library);
    let mut tried = 0;
    for (pointer, name) in LISTS {
        let Some(Value::Array(whole)) = lean.case.pointer(pointer).cloned() else { continue };
        let mut best = lean.case.clone();
        let needed = minimize(whole.clone(), &mut |parts| {
            let Some(smaller) = with(&lean.case, pointer, parts) else { return false };
            tried += 1;
            let fails = tried <= TRIED_MAX
                && fails_like(&smaller, failure, library)
                && (!is_calm_without || fails_by_faults(&smaller, failure, library));
            if fails {
                best = smaller;
            }
            fails
        });
        lean.case = best;
        if needed.len() < whole.len() {
            lean.left_out.push((name, whole.len() - needed.len()));
        }
    }
    lean
}

/// The case with these parts in the place of a list.
fn with(case: &Value, pointer: &str, parts: &[Value]) -> Option<Value> {
    let mut case = case.clone();
    *case.pointer_mut(pointer)? = Value::Array(parts.to_vec());
    Some(case)
}

fn read(case: &Value, library: &Arc<Library>) -> Option<Case> {
    Case::parse_with("", Format::Json, &case.to_string(), Arc::clone(library)).ok()?.pop()
}

/// Whether the case fails as that run did, and all of its faults come.
fn fails_like(case: &Value, failure: &Failure, library: &Arc<Library>) -> bool {
    let Some(case) = read(case, library) else { return false };
    case.fails_like(failure) && case.run(case.seed()).undelivered().is_empty()
}

/// Whether the case does not fail so without its faults: else it may fail for another reason.
fn fails_by_faults(case: &Value, failure: &Failure, library: &Arc<Library>) -> bool {
    let calm = with(case, "/faults", &[]);
    calm.and_then(|calm| read(&calm, library)).is_some_and(|calm| !calm.fails_like(failure))
}
