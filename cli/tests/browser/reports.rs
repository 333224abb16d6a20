//! Reports as the command writes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::Page;

/// The example that pays twice, with a seed in which it does.
pub(crate) const FAILING: [&str; 6] =
    ["replay", "refund_on_hosts.toml", "--case", "anything-goes-wrong", "--seed", "12"];

/// A folder for one trial, with the examples in it. It stays if the trial fails.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn new(trial: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reports_{trial}"));
        let _absent = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        for entry in std::fs::read_dir(examples).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "toml" || extension == "json") {
                std::fs::copy(&file, path.join(file.file_name().unwrap())).unwrap();
            }
        }
        Self { path }
    }

    /// The report of a command, and how it ended.
    pub(crate) fn report(&self, arguments: &[&str]) -> (PathBuf, Option<i32>) {
        let mut words = arguments.to_vec();
        // A command of the user comes last.
        let place = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        words.splice(place..place, ["--report", "report.html"]);
        let output =
            Command::new(env!("CARGO_BIN_EXE_windtunnel")).current_dir(&self.path).args(words).output().unwrap();
        let file = self.path.join("report.html");
        assert!(file.is_file(), "{}", String::from_utf8_lossy(&output.stderr));
        (file, output.status.code())
    }

    /// The report of a command, open in a browser.
    pub(crate) fn open(&self, arguments: &[&str]) -> Page {
        Page::open(&self.report(arguments).0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _left_behind = std::fs::remove_dir_all(&self.path);
        }
    }
}
