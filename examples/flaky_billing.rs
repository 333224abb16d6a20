//! Retry a flaky billing API, without waiting and without chance.
//!
//! Run it with `cargo run --example flaky_billing`. It prints:
//!
//! ```text
//! ok 4 [0.5, 1.0, 2.0]
//! tool-error 1
//! tool-failed 4 false
//! ```
//!
//! `flaky_billing.toml` beside it is the same as a case file.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windtunnel::BoxError;
use windtunnel::env::Env;
use windtunnel::event::EventLog;
use windtunnel::executor::{Backoff, BackoffSettings, Executor, ToolCall};
use windtunnel::tool::{FunctionTool, Registry, ToolError};

#[derive(Deserialize, JsonSchema)]
struct FetchInvoice {
    /// Such as `INV-7`.
    number: String,
}

/// Fails as long as failures are left: every other time as a dropped connection, else as "busy".
fn fetch_invoice(number: &str, failures: &AtomicU32) -> Result<Value, BoxError> {
    if !number.starts_with("INV-") {
        // Not retried: the model must change its arguments.
        return Err(ToolError::new("invoice numbers start with INV-").into());
    }
    let left = failures.load(Ordering::Relaxed);
    if left > 0 {
        failures.store(left - 1, Ordering::Relaxed);
        return Err(match left % 2 {
            0 => std::io::Error::from(std::io::ErrorKind::ConnectionReset).into(),
            _ => ToolError::retryable("billing API busy").into(),
        });
    }
    Ok(json!({"number": number, "status": "paid"}))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let failures = Arc::new(AtomicU32::new(0));
    let left = Arc::clone(&failures);
    let tool = FunctionTool::new("fetch_invoice", "Fetches an invoice.", move |arguments: FetchInvoice, _context| {
        let result = fetch_invoice(&arguments.number, &left);
        async move { result }
    })
    .retries(3)
    .timeout(Duration::from_secs(2));

    let mut registry = Registry::new();
    registry.register(tool)?;
    let events = EventLog::new();
    let executor = Executor::builder(registry)
        .backoff(Backoff::new(BackoffSettings { max_s: 8.0, ..BackoffSettings::default() })?)
        // Leave these two out in real code: without them it waits, and jitters.
        .env(Env::system().with_sleep(|_: Duration| std::future::ready(())).with_rng(|| 0.0))
        .sink(events.clone())
        .build();
    let fetch = |number: &str| executor.run_call(ToolCall::new("fetch_invoice", json!({ "number": number })));

    failures.store(3, Ordering::Relaxed);
    let recovered = fetch("INV-7").await?;
    let delays_s: Vec<_> = events.of_type("tool.retry").iter().map(|event| event.data()["delay_s"].clone()).collect();
    println!("{} {} {}", recovered.status(), recovered.attempts, json!(delays_s).to_string().replace(',', ", "));

    let bad_input = fetch("7").await?;
    let error = bad_input.error().ok_or("bad input must be refused")?;
    println!("{} {}", error.kind, bad_input.attempts);

    failures.store(9, Ordering::Relaxed);
    let down = fetch("INV-8").await?;
    let error = down.error().ok_or("an upstream that is down must fail the call")?;
    println!("{} {} {}", error.kind, down.attempts, error.retryable);
    Ok(())
}
