//! A server that is a command.

use std::ffi::OsString;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{stdin, stdout};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use windtunnel_core::env::Env;
use windtunnel_fixtures::mcp::{EndedBy, McpRecorder, record_session};

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// How long a server may take to end once nobody reads what it writes.
const GRACE: Duration = Duration::from_millis(500);

/// A server that is running. Dropped, it is killed.
pub(super) struct ServerCommand {
    child: Child,
    reads: ChildStdin,
    writes: ChildStdout,
}

impl ServerCommand {
    /// Starts it. Its standard error is that of this process.
    pub(super) fn start(command: &[OsString]) -> Result<Self, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Failure::Selection("there is no server to start: give its command after `--`".to_owned()));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let started = command.spawn().map(|mut child| (child.stdin.take(), child.stdout.take(), child));
        match started {
            Ok((Some(reads), Some(writes), child)) => Ok(Self { child, reads, writes }),
            Ok(_) => Err(Failure::Lost),
            Err(source) => Err(Failure::Command { program: program.to_owned(), source }),
        }
    }

    /// Records what it and the client say to each other, until either ends or a signal comes. Gives the exit code of a
    /// server that ended by itself.
    pub(super) async fn record(
        mut self,
        recorder: &McpRecorder,
        env: &Env,
        interrupt: &Interrupt,
    ) -> Result<Option<u8>, Failure> {
        let ended = {
            let session = pin!(record_session(recorder, env, (stdin(), stdout()), (self.writes, self.reads)));
            match select(session, pin!(interrupt.pressed())).await {
                Either::Left((ended, _)) => ended?,
                Either::Right(_) => EndedBy::Client,
            }
        };
        let status = match ended {
            EndedBy::ClientAlone => None,
            EndedBy::Client | EndedBy::Server => env.timeout(GRACE, self.child.wait()).await.ok(),
        };
        let Some(status) = status else { return Ok(None) };
        // A server that a signal ended has no code of its own.
        Ok(Some(status?.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))))
    }
}
