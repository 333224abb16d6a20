//! `windtunnel mcp record`.

use std::io::{Write, stderr};

use windtunnel_core::env::Env;
use windtunnel_fixtures::mcp::{McpProxy, McpRecorder, McpReport};
use windtunnel_fixtures::proxy::{Limits, Upstream};
use windtunnel_fixtures::record::{Options, Recording};

use super::arguments::McpRecordOptions;
use super::server_command::ServerCommand;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;
use crate::traffic::{Announcement, Front, environment, runtime};

/// Stands between client and server until either ends, and writes the cassette.
pub(super) fn record(
    options: &McpRecordOptions,
    interrupt: &Interrupt,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    options.file.refuse_recording()?;
    match &options.upstream {
        Some(upstream) => record_url(options, upstream, interrupt, out),
        None => record_command(options, interrupt),
    }
}

fn record_url(
    options: &McpRecordOptions,
    upstream: &Upstream,
    interrupt: &Interrupt,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let env = Env::system();
    let redaction = options.secrets.rules(environment())?;
    let recording = Recording::create_with(&options.file.out, env.clone(), Options { redaction })?;
    let proxy = McpProxy::new(recording.clone(), upstream.clone(), env, Limits::default())?;
    let (report, succeeded) = runtime()?.block_on(async {
        let announce = |url: &str| Announcement::of_mcp(url, upstream.path());
        let front = Front::open(options.listen, &options.command, announce, out).await?;
        let (listener, stop) = front.split(interrupt);
        let mut succeeded = None;
        let report = proxy.serve(listener, async { succeeded = stop.await }).await;
        Ok::<_, Failure>((report, succeeded))
    })?;
    recording.finish()?;
    let is_whole = tell(&report, options, out)?;
    Ok(if is_whole && succeeded != Some(false) { Status::Passed } else { Status::Failed })
}

/// Everything that is told goes to standard error: standard output is the protocol's.
fn record_command(options: &McpRecordOptions, interrupt: &Interrupt) -> Result<Status, Failure> {
    let env = Env::system();
    let redaction = options.secrets.rules(environment())?;
    let recording = Recording::create_with(&options.file.out, env.clone(), Options { redaction })?;
    let recorder = McpRecorder::new(recording.clone());
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let server = ServerCommand::start(&options.command)?;
        server.record(&recorder, &env, interrupt).await
    });
    // A thread may still wait for a line of the client.
    runtime.shutdown_background();
    recording.finish()?;
    let code = ended?;
    let is_whole = tell(&recorder.report(), options, &mut stderr().lock())?;
    Ok(match code {
        Some(code) if code != 0 => Status::Server(code),
        _ if is_whole => Status::Passed,
        _ => Status::Failed,
    })
}

/// Says what was recorded, and whether that is everything.
fn tell(report: &McpReport, options: &McpRecordOptions, out: &mut impl Write) -> Result<bool, Failure> {
    let McpReport { recorded, lost, lost_count, other_lines } = report;
    writeln!(out, "{recorded} messages recorded in {}", options.file.out.display())?;
    for what in lost {
        writeln!(out, "not recorded: {what}")?;
    }
    let more = lost_count.saturating_sub(lost.len() as u64);
    if more > 0 {
        writeln!(out, "not recorded: {more} more")?;
    }
    if *other_lines > 0 {
        writeln!(out, "passed over: {other_lines} lines that are no messages")?;
    }
    Ok(*lost_count == 0)
}
