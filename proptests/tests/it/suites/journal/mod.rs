mod flaws;
pub(crate) mod ours;
