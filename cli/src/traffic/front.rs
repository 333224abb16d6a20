//! Where clients ask, and until when.

use std::ffi::OsString;
use std::future::Future;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::child::Child;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// A listener, and the command that is run meanwhile.
pub(crate) struct Front {
    listener: TcpListener,
    child: Option<Child>,
}

/// The threads that answer.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(Failure::Worker)
}

/// What is said once the address is known: lines for people, and variables for the command.
pub(crate) struct Announcement {
    pub(super) lines: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Announcement {
    /// Of a server of the Model Context Protocol at `path`.
    pub(crate) fn of_mcp(url: &str, path: &str) -> Self {
        let url = format!("{url}{path}");
        Self { lines: vec![format!("mcp: {url}")], variables: vec![("WINDTUNNEL_MCP_URL", url)] }
    }

    /// Of services that clients may ask for by name.
    pub(super) fn of_services(url: &str, services: &[String]) -> Self {
        let lines = services.iter().map(|service| format!("{service}: {url}/{service}")).collect();
        Self { lines, variables: base_urls(url, services) }
    }
}

/// Where clients ask, if nobody says where.
pub(super) const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

impl Front {
    /// Listens, says where, and starts the command.
    pub(crate) async fn open(
        listen: Option<SocketAddr>,
        command: &[OsString],
        announce: impl FnOnce(&str) -> Announcement,
        out: &mut impl Write,
    ) -> Result<Self, Failure> {
        let address = listen.unwrap_or(ANYWHERE);
        let unreachable = |source| Failure::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(unreachable)?;
        let url = format!("http://{}", listener.local_addr().map_err(unreachable)?);
        let Announcement { lines, variables } = announce(&url);
        writeln!(out, "listening on {url}")?;
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        let child = match command.split_first() {
            Some((program, arguments)) => Some(Child::start(program, arguments, &variables)?),
            None => None,
        };
        Ok(Self { listener, child })
    }

    /// Takes the listener apart from what says when to stop: the end of the command, or a signal.
    pub(crate) fn split(self, interrupt: &Interrupt) -> (TcpListener, impl Future<Output = Option<bool>>) {
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
