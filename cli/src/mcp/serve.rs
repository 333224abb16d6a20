//! `windtunnel mcp serve`.

use std::io::{Write, stderr};
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::io::{stdin, stdout};
use windtunnel_core::env::Env;
use windtunnel_fixtures::cassette::load;
use windtunnel_fixtures::mcp::{McpOptions, McpServer};

use super::arguments::McpServeOptions;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;
use crate::traffic::{Announcement, Front, rules, runtime};

/// Plays the servers of the cassette until a client, the command or a signal ends it, and says what was missed or left.
pub(super) fn serve(options: &McpServeOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    let cassette = Arc::new(load(&options.file)?);
    let rules = rules(options.keyed, &options.ignore, &options.secrets)?;
    let (lane, known) = (options.lane.clone(), cassette.clone());
    let server = McpServer::new(cassette, Env::system(), McpOptions { rules, lane, ..McpOptions::default() });
    if server.lanes().is_empty() {
        let every = McpServer::new(known, Env::system(), McpOptions::default()).lanes();
        let lanes = if every.is_empty() { "none".to_owned() } else { every.join(", ") };
        return Err(Failure::Selection(format!(
            "{}: there is no session to play; the sessions in it are: {lanes}",
            options.file.display()
        )));
    }
    if options.stdio { speak(&server, interrupt) } else { listen(&server, options, interrupt, out) }
}

/// Everything that is told goes to standard error: standard output is the protocol's.
fn speak(server: &McpServer, interrupt: &Interrupt) -> Result<Status, Failure> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        match select(pin!(server.serve_lines(stdin(), stdout())), pin!(interrupt.pressed())).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => Ok(()),
        }
    });
    // A thread may still wait for a line of the client.
    runtime.shutdown_background();
    ended?;
    tell(server, &mut stderr().lock())
}

fn listen(
    server: &McpServer,
    options: &McpServeOptions,
    interrupt: &Interrupt,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let succeeded = runtime()?.block_on(async {
        let announce = |url: &str| Announcement::of_mcp(url, "/mcp");
        let (listener, stop) = Front::open(options.listen, &options.command, announce, out).await?.split(interrupt);
        let mut succeeded = None;
        server.serve_http(listener, async { succeeded = stop.await }).await;
        Ok::<_, Failure>(succeeded)
    })?;
    let status = tell(server, out)?;
    Ok(if succeeded == Some(false) { Status::Failed } else { status })
}

fn tell(server: &McpServer, out: &mut impl Write) -> Result<Status, Failure> {
    match server.finish() {
        Ok(()) => {
            writeln!(out, "everything that was recorded was said, and nothing else")?;
            Ok(Status::Passed)
        }
        Err(unfinished) => {
            writeln!(out, "{unfinished}")?;
            Ok(Status::Failed)
        }
    }
}
