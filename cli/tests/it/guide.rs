//! The guide's commands, run as they are written, and held to the output that the guide shows.
//!
//! A page is run from its top to its end in a folder of its own, with `examples/` and the files of `docs/src/code/` in it.
//! Where a page asks a provider, a recording plays it: `docs/provider.json`. `WINDTUNNEL_UPDATE=1` writes what comes out
//! into the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::command::Folder;
use super::console::{blocks, is_shown};
use super::workflow::read_yaml;

/// Who is asked in the guide, and played here.
const PROVIDER: &str = "https://api.openai.com";

#[test]
fn the_commands_of_every_page_print_what_it_shows() {
    let pages = pages();
    assert!(pages.iter().filter(|page| !blocks(&fs::read_to_string(page).unwrap()).is_empty()).count() >= 4);
    let told: Vec<_> = pages.iter().flat_map(|page| run_page(page)).collect();
    assert!(told.is_empty(), "{}\nWINDTUNNEL_UPDATE=1 writes what comes out", told.join("\n"));
}

#[test]
fn the_commands_of_the_workflow_work_for_every_shard() {
    let text = fs::read_to_string(docs().join("src/code/windtunnel.yml")).unwrap();
    let workflow = read_yaml(&text).unwrap();
    let mut commands = 0;
    for (name, job) in workflow["jobs"].as_object().unwrap() {
        let shards = match &job["strategy"]["matrix"]["include"] {
            Value::Array(shards) => shards.clone(),
            _ => vec![Value::Null],
        };
        for shard in shards {
            let stage = Stage::new(&format!("guide_{name}_{}", shard["from"]));
            let runs = job["steps"].as_array().unwrap().iter().filter_map(|step| step["run"].as_str());
            let of_ours = |script: &&str| script.lines().any(|line| line.starts_with("windtunnel "));
            for script in runs.filter(of_ours) {
                let script = with_matrix(script, &shard);
                assert!(!script.contains("${{"), "{script}");
                let (code, out) = stage.run(&format!("set -e\n{script}"));
                assert_eq!(code, Some(0), "{script}\n{out}");
                commands += 1;
            }
        }
    }
    assert!(commands >= 4, "{commands}");
}

#[test]
fn the_reference_tells_of_every_command() {
    let help = Folder::new("guide_help", &[]).run(&["--help"]).out;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = lines.map_while(|line| line.trim().split(' ').next().filter(|name| !name.is_empty()));
    let page = fs::read_to_string(docs().join("src/reference/commands.md")).unwrap();
    let untold: Vec<_> =
        commands.filter(|name| *name != "help" && !page.contains(&format!("\n| `{name}` |"))).collect();
    assert!(untold.is_empty() && help.contains("Commands:"), "{untold:?}");
}

/// What GitHub makes of the values of a matrix.
fn with_matrix(script: &str, shard: &Value) -> String {
    let values = shard.as_object().into_iter().flatten();
    values.fold(script.to_owned(), |script, (name, value)| {
        script.replace(&format!("${{{{ matrix.{name} }}}}"), value.as_str().unwrap_or(&value.to_string()))
    })
}

/// Runs all commands of a page. Says what is not as it is shown.
fn run_page(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let name = page.file_stem().unwrap().to_str().unwrap();
    let stage = Stage::new(&format!("guide_{name}"));
    let mut told = Vec::new();
    let mut updated = text.clone();
    let blocks = blocks(&text);
    if !stage.has_python && blocks.iter().any(|block| block.asks("python ")) {
        // What comes later on the page needs what it does.
        return told;
    }
    for block in blocks.iter().filter(|block| stage.has_node || !block.asks("node ")) {
        let (code, out) = block.commands.iter().fold((Some(0), String::new()), |(before, mut shown), command| {
            if before != Some(0) {
                told.push(format!("{name}: a command before this one ended with {before:?}: {}", command.shell));
            }
            let (code, out) = stage.run(&command.shell);
            let kept = if is_shown(&command.output, &out) { &command.output } else { &out };
            shown.push_str(&command.text);
            shown.push_str(kept);
            (code, shown)
        });
        if code != Some(block.exit_code) {
            told.push(format!("{name}: exit code {code:?}, not {}:\n{out}", block.exit_code));
        }
        if out != block.body {
            told.push(format!("{name}: shown\n{}\nand came\n{out}", block.body));
            updated = updated.replacen(&block.body, &out, 1);
        }
    }
    if updated != text && std::env::var_os("WINDTUNNEL_UPDATE").is_some() {
        fs::write(page, updated).unwrap();
    }
    told
}

/// Where commands run.
struct Stage {
    folder: Folder,
    path: String,
    /// Whether the clients of the guide's agents are there.
    has_python: bool,
    has_node: bool,
    provider: Provider,
}

impl Stage {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name, &[]);
        let examples = folder.path.join("examples");
        copy(&docs().join("../examples"), &examples);
        copy(&docs().join("src/code"), &folder.path);
        let command = Path::new(env!("CARGO_BIN_EXE_windtunnel")).parent().unwrap().to_owned();
        let clients = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("clients/python/bin");
        let is_required = std::env::var_os("WINDTUNNEL_CLIENTS").is_some_and(|value| value == "required");
        let has_python = is_required || clients.join("python").exists();
        let has_node = Command::new("node").arg("--version").output().is_ok();
        let others = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{others}", command.display(), clients.display());
        Self { folder, path, has_python, has_node, provider: Provider::start() }
    }

    fn run(&self, shell: &str) -> (Option<i32>, String) {
        let shell = shell.replace(PROVIDER, &self.provider.upstream);
        let mut command = Command::new("sh");
        command.arg("-c").arg(shell).current_dir(&self.folder.path).stdin(Stdio::null());
        command.env("PATH", &self.path).env("OPENAI_API_KEY", "sk-none").env("COLUMNS", "120").env_remove("CI");
        for variable in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(variable);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

/// A recording that plays a provider, as often as it is asked.
struct Provider {
    server: Child,
    /// It, as `--upstream` takes it.
    upstream: String,
}

impl Provider {
    fn start() -> Self {
        use std::io::{BufRead, BufReader};
        let mut command = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
        command.arg("serve").arg(docs().join("provider.json")).arg("--repeat");
        let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let urls: Vec<_> = lines.take(2).map(|line| line.unwrap()).collect();
        let url = urls[1].strip_prefix("openai: ").unwrap();
        Self { server, upstream: format!("openai={url}") }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.server.kill();
        let _waited = self.server.wait();
    }
}

/// The pages in their order.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![docs().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}
