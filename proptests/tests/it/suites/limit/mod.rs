mod flaws;
mod ours;
mod published;
mod reference;
mod weakened;
