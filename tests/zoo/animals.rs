//! All animals, and how they are hunted. A file each, so that a test and a benchmark can share them.

mod animal;
mod cut_stream;
mod drop_only_flush;
mod hasty_outer_retry;
pub(crate) mod hunt;
mod late_answer;
mod lock_order;
mod long_delay;
mod lost_acknowledgment;
mod overspent_budget;
mod patience;
mod repeated_step;
mod retried_turn;
mod stale_lease;
mod state_file;
mod swapped_answers;
mod unseen_arguments;
mod unsynced_rename;
mod wall_clock_expiry;

pub(crate) use animal::{Animal, Breaks, Twin};
pub(crate) use cut_stream::CUT_STREAM;
pub(crate) use drop_only_flush::DROP_ONLY_FLUSH;
pub(crate) use hasty_outer_retry::HASTY_OUTER_RETRY;
pub(crate) use late_answer::LATE_ANSWER;
pub(crate) use lock_order::LOCK_ORDER;
pub(crate) use long_delay::LONG_DELAY;
pub(crate) use lost_acknowledgment::LOST_ACKNOWLEDGMENT;
pub(crate) use overspent_budget::OVERSPENT_BUDGET;
pub(crate) use repeated_step::REPEATED_STEP;
pub(crate) use retried_turn::RETRIED_TURN;
pub(crate) use stale_lease::STALE_LEASE;
pub(crate) use swapped_answers::SWAPPED_ANSWERS;
pub(crate) use unseen_arguments::UNSEEN_ARGUMENTS;
pub(crate) use unsynced_rename::UNSYNCED_RENAME;
pub(crate) use wall_clock_expiry::WALL_CLOCK_EXPIRY;
