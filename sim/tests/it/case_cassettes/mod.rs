//! Case files whose model and tools are answered from cassettes.

mod answers;
mod refusals;
mod repeats;
mod shop;
