mod flaws;
mod ours;
mod reference;
mod weakened;
