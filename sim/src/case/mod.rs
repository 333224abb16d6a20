//! Case files: tools, calls and what must come of them, as data.
//!
//! A file holds one case or several, as JSON, JSONL or TOML. [`Case::load`] reads it, [`Case::run`] runs a case with a
//! seed, and [`Case::judge`] holds the run against what the file expects and what it asserts of every run. Whatever is
//! wrong with a file is refused with its line, column and path, an unknown field too.
//!
//! # The fields of a case
//!
//! | field | what it says | if it is absent |
//! | --- | --- | --- |
//! | `id` | the case's name, unique in its file | `case-` and its place |
//! | `kind` | `"calls"`; this version knows no other | `"calls"` |
//! | `tools` | a list of tools | required |
//! | `calls` | a list of calls: `name`, `arguments` (`{}`), `id` (one that says its place), `wait_ms` before it (0) | required |
//! | `batch` | all calls are made at once, not one after another | `false` |
//! | `seed` | the seed that `expect` is about | 0 |
//! | `rng` | the number in [0, 1) that every draw of jitter gives | drawn from the seed |
//! | `backoff` | `base_s`, `max_s`, `multiplier`, `jitter` | 0.5, 30, 2, 0.25 |
//! | `run_limits` | `max_calls`, and `per_kind`: how many calls of a kind may run at once | no limits |
//! | `approvals` | the reviewer's decisions in order: `decision` (`approve`, `deny`, `pending`), `reason`, `edited_arguments` | none; past the last one everything is denied |
//! | `approval_port` | whether there is a reviewer | whether there are `approvals` |
//! | `expect` | what must come out | nothing is compared |
//! | `always` | what holds in every run | nothing is asserted |
//!
//! All calls are made in one run. Times are virtual, and at most a year.
//!
//! # The fields of a tool
//!
//! | field | what it says | if it is absent |
//! | --- | --- | --- |
//! | `name`, `description`, `kind` | as in [`ToolSpec`](windtunnel_core::tool::ToolSpec) | required, empty, the name |
//! | `parameters` | each required argument with its type (`string`, `integer`, `number`, `boolean`, `array`, `object`, `any`); no others are allowed | no arguments |
//! | `schema` | a JSON Schema instead of `parameters` | |
//! | `retries`, `timeout_s`, `parallel_safe`, `once_per_run`, `confirm`, `cache_ttl_s`, `cache_scope` (`run`, `global`) | its policy | the defaults of `ToolSpec` |
//! | `script` | what each attempt does, in order: `delay_ms`, then `fail` or the answer `ok` | |
//! | `random` | what attempts after the script draw: `fail`, a rate from 0 to 1 for each way to fail, and `delay_ms` | they answer at once |
//!
//! An attempt that does not fail answers with `ok`, or with `{"echo": arguments}`. It can fail by a `foreign` error, as
//! `busy` (which may be retried), by a `tool-error` (which may not), it can `hang`, or `panic`. A `delay_ms` is a number,
//! or `{"min": …, "max": …}` to draw from. Every tool draws from streams of its own.
//!
//! # What is expected
//!
//! `results` has an entry for each call, with any of `status`, `attempts`, `error`, `retryable`, `delays_s`, `value`,
//! `cached` and `finished_us` (since the case began); what it does not mention is not compared, and `null` expects
//! nothing. `invocations` lists the attempts that reached a tool, `invocations_unordered` in any order.
//! `ledger_entries` and `approval_requests` are counts. Where a case draws from its seed, `expect` is about `seed` only.
//!
//! # What always holds
//!
//! An entry of `always` is `{"that": …}`, an expression in CEL, with a `name` if one helps. With `each` (`results`,
//! `events`, `ledger` or `invocations`) it holds for every element, which is called `it`. The variables are `results`,
//! `events`, `ledger`, `invocations`, `tools` (by name), `elapsed_ms` and `approval_requests`; the macros `all`, `exists`,
//! `exists_one`, `map`, `filter` and `has`; the functions `size`, `contains`, `startsWith`, `endsWith`, `type` and the
//! conversions. A misspelt field or a wrong type is a failure, never a pass. The order of a map's members is undefined.
//!
//! ```json
//! {"name": "attempts never exceed retries + 1", "each": "results", "that": "it.attempts <= it.retries + 1"}
//! ```

mod always;
mod build;
mod definition;
mod error;
mod expectation;
mod load;
mod play;
mod run;
mod script;
mod suggestion;
mod text;
mod typed;
mod verdict;
mod wire;

pub use always::{AssertionOutcome, Offence};
pub use definition::Case;
pub use error::{LoadError, Place};
pub use run::{CaseRun, FinishedCall};
pub use text::Format;
pub use verdict::Verdict;
