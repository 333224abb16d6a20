//! A command that asks.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use tokio::process;

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// A command that is running. Dropped, it is killed.
pub(super) struct Child {
    process: process::Child,
}

impl Child {
    /// Starts it, with these variables added to its environment.
    pub(super) fn start(
        program: &OsStr,
        arguments: &[OsString],
        variables: &[(&str, String)],
    ) -> Result<Self, Failure> {
        let mut command = process::Command::new(program);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value))).kill_on_drop(true);
        let process = command.spawn().map_err(|source| Failure::Command { program: program.to_owned(), source })?;
        Ok(Self { process })
    }

    /// Waits until it ends, and says whether it succeeded; a signal to this process ends it too.
    pub(super) async fn ended(mut self, interrupt: &Interrupt) -> bool {
        let mut ended = pin!(self.process.wait());
        let mut pressed = pin!(interrupt.pressed());
        std::future::poll_fn(|context| {
            if let Poll::Ready(status) = ended.as_mut().poll(context) {
                return Poll::Ready(status.is_ok_and(|status| status.success()));
            }
            pressed.as_mut().poll(context).map(|()| false)
        })
        .await
    }
}
