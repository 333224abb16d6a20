//! Real clients, unmodified, recorded through the proxy before a stand-in service and replayed without it. `install` gets
//! them; where they are not installed these trials are left out, unless `WINDTUNNEL_CLIENTS=required`.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod answer;
mod client;
mod dialects;
mod expectation;
mod fetch;
mod mcp;
mod scene;
mod session;
mod trials;
mod upstream;

use std::process::ExitCode;

use client::Client;
use libtest_mimic::{Arguments, Completion, Trial};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for client in Client::ALL {
        trials.push(of_client(client, "sees_the_same_when_it_is_replayed", trials::round));
        trials.push(of_client(client, "is_told_of_a_miss", trials::miss));
    }
    trials.push(of_client(Client::OpenAi, "sees_a_stream_as_slow_as_it_was", trials::timing));
    for mode in mcp::MODES {
        trials.push(of_mcp(mode, "sees_the_same_over_stdio", mcp::over_stdio));
        trials.push(of_mcp(mode, "sees_the_same_over_http", mcp::over_http));
        trials.push(of_mcp(mode, "is_told_of_a_miss", mcp::is_told_of_a_miss));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn of_client(client: Client, what: &str, run: fn(Client)) -> Trial {
    trial(format!("{}_{what}", client.name()), client.command().is_some(), move || run(client))
}

fn of_mcp(mode: &'static str, what: &str, run: fn(&str)) -> Trial {
    trial(format!("mcp_for_python_{mode}_{what}"), client::python("mcp_client.py").is_some(), move || run(mode))
}

fn trial(name: String, is_installed: bool, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || {
        if is_installed {
            run();
            return Ok(Completion::Completed);
        }
        let missing = "its client is not installed: run cli/tests/clients/install";
        if std::env::var_os("WINDTUNNEL_CLIENTS").is_some_and(|value| value == "required") {
            return Err(missing.into());
        }
        Ok(Completion::ignored_with(missing))
    })
}
