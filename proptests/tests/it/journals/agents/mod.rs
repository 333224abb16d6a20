//! Tool loops as durable workflows: agents that a script makes, and all that goes wrong.

mod case;
mod check;
mod distribution;
mod loops;
mod scene;
mod strategy;
mod tools;
