//! `windtunnel record`.

use std::io::Write;

use windtunnel_core::env::Env;
use windtunnel_fixtures::proxy::{Limits, ProxyReport, RecordingProxy};
use windtunnel_fixtures::record::{Options, Recording};

use super::arguments::RecordOptions;
use super::front::{Front, runtime};
use super::secrets::environment;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;

/// Stands before the services until the command or a signal ends it, and writes the cassette.
pub(crate) fn record(options: &RecordOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    if !options.in_ci && is_ci(std::env::var_os("CI")) {
        return Err(Failure::Selection(
            "recording is refused where the environment variable CI is set: it would ask live services; add --in-ci if it \
             must"
                .to_owned(),
        ));
    }
    if !options.replace && options.out.exists() {
        let file = options.out.display();
        return Err(Failure::Selection(format!("{file} is there already: add --replace to record it anew")));
    }
    let env = Env::system();
    let redaction = options.secrets.rules(environment())?;
    let recording = Recording::create_with(&options.out, env.clone(), Options { redaction })?;
    let proxy = RecordingProxy::new(recording.clone(), options.upstreams.clone(), env, Limits::default())?;
    let services: Vec<String> = options.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    let (report, succeeded) = runtime()?.block_on(async {
        let (listener, stop) = Front::open(&options.front, &services, out).await?.split(interrupt);
        let mut succeeded = None;
        let report = proxy.serve(listener, async { succeeded = stop.await }).await;
        Ok::<_, Failure>((report, succeeded))
    })?;
    recording.finish()?;
    let ProxyReport { recorded, lost, unfinished } = report;
    writeln!(out, "{recorded} exchanges recorded in {}", options.out.display())?;
    for call in &lost {
        writeln!(out, "not recorded: {call}")?;
    }
    if unfinished > 0 {
        writeln!(out, "not recorded: {unfinished} exchanges that were under way")?;
    }
    let is_whole = lost.is_empty() && unfinished == 0 && succeeded != Some(false);
    Ok(if is_whole { Status::Passed } else { Status::Failed })
}

/// Whether this value of the variable `CI` says that this is a machine's run.
fn is_ci(value: Option<std::ffi::OsString>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}
