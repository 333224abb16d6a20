pub(crate) mod agents;
pub(crate) mod calls;
mod canaries;
mod found;
mod kept;
mod plans;
mod printed;
pub(crate) mod shop;
