//! Where clients ask, and until when.

use std::future::Future;
use std::io::Write;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::arguments::FrontOptions;
use super::child::Child;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// A listener, and the command that is run meanwhile.
pub(super) struct Front {
    listener: TcpListener,
    child: Option<Child>,
}

/// The threads that answer.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(Failure::Worker)
}

impl Front {
    /// Listens, says where, and starts the command. `services` are the names that clients may ask for.
    pub(super) async fn open(
        options: &FrontOptions,
        services: &[String],
        out: &mut impl Write,
    ) -> Result<Self, Failure> {
        let unreachable = |source| Failure::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(unreachable)?;
        let url = format!("http://{}", listener.local_addr().map_err(unreachable)?);
        writeln!(out, "listening on {url}")?;
        for service in services {
            writeln!(out, "{service}: {url}/{service}")?;
        }
        out.flush()?;
        let child = match options.command.split_first() {
            Some((program, arguments)) => Some(Child::start(program, arguments, &base_urls(&url, services))?),
            None => None,
        };
        Ok(Self { listener, child })
    }

    /// Takes the listener apart from what says when to stop: the end of the command, or a signal.
    pub(super) fn split(self, interrupt: &Interrupt) -> (TcpListener, impl Future<Output = Option<bool>>) {
        let Self { listener, child } = self;
        let interrupt = interrupt.clone();
        let stop = async move {
            match child {
                Some(child) => Some(child.ended(&interrupt).await),
                None => {
                    interrupt.pressed().await;
                    None
                }
            }
        };
        (listener, stop)
    }
}

/// The environment variables that clients read their base URL from.
fn base_urls(url: &str, services: &[String]) -> Vec<(&'static str, String)> {
    let known = [
        ("openai", "OPENAI_BASE_URL", "/v1"),
        ("anthropic", "ANTHROPIC_BASE_URL", ""),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", ""),
    ];
    let known = known.into_iter().filter(|(service, ..)| services.iter().any(|name| name == service));
    let known = known.map(|(service, variable, rest)| (variable, format!("{url}/{service}{rest}")));
    known.chain([("WINDTUNNEL_URL", url.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_clients_are_told_where_to_ask() {
        let services = ["anthropic", "openai", "other"].map(str::to_owned);
        assert_eq!(
            base_urls("http://x", &services),
            [
                ("OPENAI_BASE_URL", "http://x/openai/v1".to_owned()),
                ("ANTHROPIC_BASE_URL", "http://x/anthropic".to_owned()),
                ("WINDTUNNEL_URL", "http://x".to_owned()),
            ]
        );
    }
}
