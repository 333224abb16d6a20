//! `windtunnel record`.

use std::io::Write;

use windtunnel_core::env::Env;
use windtunnel_fixtures::mode::Settings;
use windtunnel_fixtures::proxy::{Limits, ProxyReport, RecordingProxy};
use windtunnel_fixtures::record::{Options, Recording};

use super::arguments::{FileOptions, FrontOptions, RecordOptions};
use super::front::{Announcement, Front, runtime};
use super::secrets::environment;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;

/// Stands before the services until the command or a signal ends it, and writes the cassette.
pub(crate) fn record(options: &RecordOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    options.file.refuse_recording()?;
    let env = Env::system();
    let redaction = options.secrets.rules(environment())?;
    let recording = Recording::create_with(&options.file.out, env.clone(), Options { redaction })?;
    let proxy = RecordingProxy::new(recording.clone(), options.upstreams.clone(), env, Limits::default())?;
    let services: Vec<String> = options.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    let (report, succeeded) = runtime()?.block_on(async {
        let FrontOptions { listen, command } = &options.front;
        let announce = |url: &str| Announcement::of_services(url, &services);
        let (listener, stop) = Front::open(Some(*listen), command, announce, out).await?.split(interrupt);
        let mut succeeded = None;
        let report = proxy.serve(listener, async { succeeded = stop.await }).await;
        Ok::<_, Failure>((report, succeeded))
    })?;
    let ProxyReport { recorded, lost, unfinished } = report;
    for call in &lost {
        writeln!(out, "not recorded: {call}")?;
    }
    if unfinished > 0 {
        writeln!(out, "not recorded: {unfinished} exchanges that were under way")?;
    }
    // A disk that did not take an exchange may not take the file either: what is lost is told before.
    recording.finish()?;
    writeln!(out, "{recorded} exchanges recorded in {}", options.file.out.display())?;
    let is_whole = lost.is_empty() && unfinished == 0 && succeeded != Some(false);
    Ok(if is_whole { Status::Passed } else { Status::Failed })
}

impl FileOptions {
    /// Refuses to record where that would ask live services unasked, and over a file that is there.
    pub(crate) fn refuse_recording(&self) -> Result<(), Failure> {
        if !self.in_ci && Settings::from_process().is_ci {
            return Err(Failure::Selection(
                "recording is refused where the environment variable CI is set: it would ask live services; add --in-ci if \
                 it must"
                    .to_owned(),
            ));
        }
        if !self.replace && self.out.exists() {
            let file = self.out.display();
            return Err(Failure::Selection(format!("{file} is there already: add --replace to record it anew")));
        }
        Ok(())
    }
}
