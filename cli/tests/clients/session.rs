//! Running a client against the command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::client::Client;
use crate::upstream::Upstream;

/// What a client identifies itself with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys(pub(crate) [(&'static str, &'static str); 5]);

pub(crate) const KEYS: Keys = Keys([
    ("OPENAI_API_KEY", "sk-proj-Tq4hYw9LmX2vB7nRk8sJ3cPd6fZaUe0GxHyN5iVo"),
    ("OPENAI_ORG_ID", "org-Ja7Xw2Qm9Tz4Lk6Vn1Rb8Ys3"),
    ("OPENAI_PROJECT_ID", "proj_Gd5Wm8Xr2Kp9Tn4Vq7Zc1Lb6"),
    ("ANTHROPIC_API_KEY", "sk-ant-api03-Wq8Zt5Lm2Xk9Vb4Rn7Jc1Hd6Fs3Pg0Yw"),
    ("ANTHROPIC_AUTH_TOKEN", "oat01-Mx6Kv9Tn3Rw7Zq2Lp5Jb8Hc1Fd4Gs0"),
]);

pub(crate) const OTHER_KEYS: Keys = Keys([
    ("OPENAI_API_KEY", "sk-another"),
    ("OPENAI_ORG_ID", "org-another"),
    ("OPENAI_PROJECT_ID", "proj_another"),
    ("ANTHROPIC_API_KEY", "sk-ant-another"),
    ("ANTHROPIC_AUTH_TOKEN", "another"),
]);

/// A folder for one trial. It stays if the trial fails.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// A client in a folder.
pub(crate) struct Session {
    pub(crate) folder: Folder,
    client: Client,
}

/// How the command ended, and what its client saw.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) seen: Vec<Value>,
    /// Everything that was printed.
    pub(crate) text: String,
}

impl Session {
    pub(crate) fn new(client: Client, trial: &str) -> Self {
        Self { folder: Folder::new(&format!("{}_{trial}", client.name())), client }
    }

    /// Records to `c.json` what the client asks of the service, and keeps the log of the recording as `kept.partial`.
    pub(crate) fn record(&self, upstream: &Upstream, scenes: &[&str]) -> Ended {
        let services = ["openai", "anthropic"].map(|name| format!("--upstream={name}={}", upstream.url));
        let mut arguments = vec!["record".into(), "--in-ci".into(), "--out=c.json".into()];
        arguments.extend(services.map(OsString::from));
        let keep = ["--", "sh", "-c", "\"$@\"; code=$?; cp c.json.partial kept.partial; exit $code", "sh"];
        arguments.extend(keep.map(OsString::from));
        self.run(arguments, scenes, KEYS)
    }

    /// Serves `c.json` to the client, which has other keys.
    pub(crate) fn serve(&self, options: &[&str], scenes: &[&str]) -> Ended {
        let arguments = ["serve", "c.json"].iter().chain(options).chain(&["--"]).map(OsString::from);
        self.run(arguments.collect(), scenes, OTHER_KEYS)
    }

    fn run(&self, mut arguments: Vec<OsString>, scenes: &[&str], keys: Keys) -> Ended {
        // The command itself does not know the keys: it finds them where they are sent.
        arguments.push("env".into());
        arguments.extend(keys.0.map(|(name, key)| format!("{name}={key}").into()));
        arguments.extend(self.client.command().unwrap());
        arguments.extend(scenes.iter().map(OsString::from));
        let output = self.command(arguments).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        // Errors name the address, which is another one each time.
        let url = out.lines().next().and_then(|line| line.strip_prefix("listening on "));
        let out = url.map_or_else(|| out.clone(), |url| out.replace(url, "URL"));
        let seen = out.lines().filter(|line| line.starts_with('{')).map(|line| line.parse().unwrap()).collect();
        let text = format!("{out}{}", String::from_utf8(output.stderr).unwrap());
        Ended { code: output.status.code(), seen, text }
    }

    /// A server of `c.json` that runs until it is stopped.
    pub(crate) fn serving(&self) -> Child {
        self.command(vec!["serve".into(), "c.json".into()]).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn command(&self, arguments: Vec<OsString>) -> Command {
        let program = vec![env!("CARGO_BIN_EXE_windtunnel").into()];
        let mut command = command(&[program, arguments].concat());
        command.current_dir(&self.folder.path);
        command
    }
}

/// A program with its arguments. Clients in it ask nobody but whom they are told to.
pub(crate) fn command(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    for variable in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(variable);
    }
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONIOENCODING", "utf-8");
    command
}

impl Folder {
    pub(crate) fn new(trial: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("clients_{trial}"));
        let _absent = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self { path }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _left_behind = std::fs::remove_dir_all(&self.path);
        }
    }
}
