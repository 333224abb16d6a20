//! A store across a network.

mod bounds;
mod cuts;
mod damage;
mod drops;
mod network;
mod refusals;
mod round_trips;
mod runs;
mod talk;
mod wire;
