mod durable;
mod evaluator;
mod flaws;
mod ours;
mod published;
mod reference;
mod told;
mod weakened;
