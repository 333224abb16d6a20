//! Workers that live until they are killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::points::Point;
use crate::worker;

/// A worker's process.
pub(crate) struct Life {
    child: Child,
}

impl Life {
    /// A worker that stops the `nth` time that it comes to a point, if it is to.
    pub(crate) fn begin(file: &Path, port: u16, stop: Option<(Point, u32)>) -> Self {
        let (point, nth) = stop.map_or(("nowhere", 0), |(point, nth)| (point.name(), nth));
        let child = Command::new(std::env::current_exe().unwrap())
            .args([worker::ROLE, file.to_str().unwrap(), &port.to_string(), point, &nth.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child }
    }

    /// Kills it when it has stopped; says whether it did, or came to its end.
    pub(crate) fn kill_when_stopped(mut self) -> bool {
        let mut said = String::new();
        BufReader::new(self.child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        if said.trim() == "stopped" {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
            return true;
        }
        assert!(self.child.wait().unwrap().success(), "a worker failed by itself");
        false
    }

    /// Kills it after a time; says whether it came to its end before.
    pub(crate) fn kill_after(mut self, time: Duration) -> bool {
        std::thread::park_timeout(time);
        // It may be gone already.
        let _killed = self.child.kill();
        let status = self.child.wait().unwrap();
        assert!(status.success() || status.code().is_none(), "a worker failed by itself: {status}");
        status.success()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) {
        assert!(self.child.wait().unwrap().success(), "a worker failed by itself");
    }
}
