//! Our own suite: the strategies, models and invariants of this crate against Windtunnel's executor.
//!
//! `WINDTUNNEL_CASES` says how many cases each property tries (a number, or `10x`), `WINDTUNNEL_SEED` which: the seed is fixed
//! unless one is given, so that a run repeats.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod backoff;
#[cfg(test)]
mod batches;
#[cfg(test)]
mod canaries;
#[cfg(test)]
mod distribution;
#[cfg(test)]
mod dropped;
#[cfg(test)]
mod journals;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod nested;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod secrecy;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod suites;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod violations;
#[cfg(test)]
mod worlds;
