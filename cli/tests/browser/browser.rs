//! One browser without a window, in a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::wire::{ask, nothing};

const DRIVER: &str = "chromedriver";
const BROWSERS: [&str; 2] = ["chromium", "chromium-browser"];

/// A browser with one page. It ends when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

/// Where a program is.
fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

pub(crate) fn is_installed() -> bool {
    program(DRIVER).is_some() && BROWSERS.into_iter().any(|name| program(name).is_some())
}

impl Browser {
    pub(crate) fn start() -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser_{}_{number}", std::process::id()));
        let _absent = std::fs::remove_dir_all(&profile);
        std::fs::create_dir_all(&profile).unwrap();
        let mut driver = Command::new(DRIVER)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = port(&mut driver);
        let session = ask(port, "POST", "/session", Some(&capabilities(&profile))).unwrap();
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let browser = Self { driver, port, session, profile };
        browser.resize(1280, 800);
        browser
    }

    pub(crate) fn post(&self, command: &str, body: &Value) -> Value {
        ask(self.port, "POST", &format!("/session/{}/{command}", self.session), Some(body)).unwrap()
    }

    pub(crate) fn get(&self, command: &str) -> Value {
        ask(self.port, "GET", &format!("/session/{}/{command}", self.session), None).unwrap()
    }

    /// A command of the developer tools.
    pub(crate) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", &size);
    }

    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.command("Emulation.setEmulatedMedia", &features);
    }

    /// What was logged since it was asked last.
    pub(crate) fn log(&self, of: &str) -> Vec<Value> {
        let log = self.post("se/log", &json!({"type": of}));
        log.as_array().unwrap().clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ended = ask(self.port, "DELETE", &format!("/session/{}", self.session), Some(&nothing()));
        let _gone = self.driver.kill();
        let _gone = self.driver.wait();
        let _left_behind = std::fs::remove_dir_all(&self.profile);
    }
}

/// The port that the driver says it listens on.
fn port(driver: &mut Child) -> u16 {
    let out = BufReader::new(driver.stdout.take().unwrap());
    let said = out.lines().map_while(Result::ok).find_map(|line| {
        let port = line.split_once("started successfully on port ")?.1;
        port.trim_end_matches('.').parse().ok()
    });
    said.unwrap()
}

fn capabilities(profile: &Path) -> Value {
    let arguments = [
        "--headless".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-quic".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        format!("--user-data-dir={}", profile.display()),
    ];
    let binary = BROWSERS.into_iter().find_map(program).unwrap();
    json!({"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "goog:chromeOptions": {"args": arguments, "binary": binary},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    }}})
}
