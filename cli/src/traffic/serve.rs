//! `windtunnel serve`.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use serde_json_path::JsonPath;
use windtunnel_core::env::Env;
use windtunnel_fixtures::cassette::{Cassette, Exchange, load};
use windtunnel_fixtures::delivery::{Delivery, Split};
use windtunnel_fixtures::matching::{Order, Rules};
use windtunnel_fixtures::server::{Overlay, ReplayOptions, ReplayServer};

use super::arguments::{FrontOptions, ServeOptions, SplitName};
use super::front::{Announcement, Front, runtime};
use super::overlay::Faults;
use super::secrets::{SecretsOptions, environment};
use super::watched::Watched;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;

/// Answers from the cassette until the command or a signal ends it, and says what was missed or left.
pub(crate) fn serve(options: &ServeOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    options.report.check()?;
    let cassette = Arc::new(load(&options.file)?);
    let services = services(&cassette);
    let faults = Faults::of(options)?.map(Arc::new);
    let env = Env::system();
    let watched = options.report.is_asked().then(|| Arc::new(Watched::new(faults.clone(), env.clone())));
    let overlay = match &watched {
        Some(watched) => Some(Arc::clone(watched) as Arc<dyn Overlay>),
        None => faults.clone().map(|faults| faults as Arc<dyn Overlay>),
    };
    let server = ReplayServer::new(cassette, env, ReplayOptions { overlay, ..replay_options(options)? });
    let succeeded = runtime()?.block_on(async {
        let FrontOptions { listen, command } = &options.front;
        let announce = |url: &str| Announcement::of_services(url, &services);
        let (listener, stop) = Front::open(Some(*listen), command, announce, out).await?.split(interrupt);
        let mut succeeded = None;
        server.serve(listener, async { succeeded = stop.await }).await;
        Ok::<_, Failure>(succeeded)
    })?;
    for line in faults.iter().flat_map(|faults| faults.lines()) {
        writeln!(out, "{line}")?;
    }
    let finished = server.finish();
    if let Some(watched) = watched {
        options.report.save(&watched.report(&options.file.display().to_string(), &finished))?;
    }
    match &finished {
        Ok(()) => writeln!(out, "everything that was recorded was asked for, and nothing else")?,
        Err(unfinished) => writeln!(out, "{unfinished}")?,
    }
    Ok(if finished.is_ok() && succeeded != Some(false) { Status::Passed } else { Status::Failed })
}

fn replay_options(options: &ServeOptions) -> Result<ReplayOptions, Failure> {
    let split = match options.split {
        SplitName::Recorded => Split::AsRecorded,
        SplitName::Whole => Split::Whole,
        SplitName::Event => Split::PerEvent,
        SplitName::Byte => Split::EveryByte,
    };
    let delivery = Delivery { timing: options.timing, split, cut: None };
    let mut rules = rules(options.keyed, &options.ignore, &options.secrets)?;
    if options.repeat {
        rules.order = Order::Repeated;
    }
    Ok(ReplayOptions { rules, delivery, ..ReplayOptions::default() })
}

/// How calls are compared: in any order if they are `keyed`, and without the places to `ignore` and `secrets`.
pub(crate) fn rules(keyed: bool, ignore: &[String], secrets: &SecretsOptions) -> Result<Rules, Failure> {
    let parse = |path: &String| {
        JsonPath::parse(path).map_err(|error| Failure::Selection(format!("{path:?} is no JSONPath: {error}")))
    };
    let ignored = ignore.iter().map(parse).collect::<Result<_, _>>()?;
    let redaction = secrets.rules(environment())?;
    let order = if keyed { Order::Keyed } else { Order::Strict };
    Ok(Rules { order, ignored, redaction })
}

fn services(cassette: &Cassette) -> Vec<String> {
    let names = cassette.entries.iter().filter_map(|entry| match &entry.exchange {
        Exchange::Http(exchange) => Some(exchange.upstream.clone()),
        _ => None,
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
