mod flaws;
pub(crate) mod ours;
mod reference;
