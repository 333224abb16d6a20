//! What holds of journals and durable workflows.

mod effects;
mod history;

pub use effects::{
    Repeats, acknowledged_operations_do_not_run_again, attempts_read_what_is_stored, commits_come_one_after_another,
    idempotency_keys_tell_operations_apart, overtaken_attempts_store_nothing, poisoned_attempts_stop,
    repeats_are_explained, results_wait_for_their_acknowledgment,
};
pub use history::{AcknowledgedRecord, decisions_are_told_truly, history_grows, history_holds, history_is_sound};
