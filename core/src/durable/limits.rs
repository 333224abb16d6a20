//! How much may be stored (D4). Every bound is inclusive, and what is over one fails: nothing is ever trimmed.

use std::time::Duration;

/// Records of one activation.
pub const RECORDS_MAX: usize = 128;
/// Bytes of one activation's journal: the canonical encoding of the list of its records.
pub const JOURNAL_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one record, of a binding, and of the arguments or the result alone.
pub const RECORD_BYTES_MAX: usize = 128 * 1024;
/// Bytes of a checkpoint's state.
pub const STATE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an event that a workflow waits for.
pub const EVENT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a workflow's output.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Levels of arrays and objects in a stored value: in the input of an operation, which holds its arguments, in a result,
/// a state, an event and an output.
pub const DEPTH_MAX: usize = 64;
/// The longest durable wait.
pub const WAIT_MAX: Duration = Duration::from_millis(31_536_000_000);
/// Bytes of a key, a version, an entry or an identifier.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of a callable's name with its kind in front.
pub const CALLABLE_BYTES_MAX: usize = 512;
/// Bytes of the message that a workflow fails with.
pub const MESSAGE_BYTES_MAX: usize = 4096;
