//! Running the real binary in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that is removed with the test.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// What the command wrote and how it ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// A folder named after the test, holding `files`.
    pub(crate) fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _absent = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
        Self { path }
    }

    /// The command, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
        command.current_dir(&self.path).args(arguments).env_remove("NO_COLOR").env("TERM", "xterm");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left_behind = std::fs::remove_dir_all(&self.path);
    }
}

impl Ended {
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What was told of the progress, without what is different each time.
    pub(crate) fn err_without_rate(&self) -> String {
        let line = |line: &str| match line.strip_suffix(" a second").and_then(|line| line.rsplit_once(", ")) {
            Some((rest, rate)) if rate.parse::<u64>().is_ok() => format!("{rest}\n"),
            _ => format!("{line}\n"),
        };
        self.err.lines().map(line).collect()
    }

    /// Standard output without what is different each time.
    pub(crate) fn out_without_real_time(&self) -> String {
        let lines = self.out.lines().map(|line| if line.starts_with("real time: ") { "real time: …" } else { line });
        lines.map(|line| format!("{line}\n")).collect()
    }
}
