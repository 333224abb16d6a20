//! What the evaluator promises: one module a feature, rules cited as V1–V11.

mod toolbox;

mod compiled;
mod deep;
mod dropped;
mod events;
mod executed;
mod failures;
mod limits;
mod memo;
mod providers;
mod values;
