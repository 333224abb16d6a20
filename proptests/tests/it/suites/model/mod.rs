mod flaws;
mod ours;
mod reference;
