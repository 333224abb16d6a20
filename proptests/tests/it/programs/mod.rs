//! Programs under limits and policies (V1–V11), against their model and their invariants.

mod at_once;
mod compiled;
mod distribution;
mod dropped;
mod order;
mod parallel;
pub(crate) mod places;
mod reading;
mod violations;
