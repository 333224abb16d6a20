//! The rules of the guide, each as a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::markdown::{anchored, beside, blocks, headings, links, pages, root, with_pages};

/// Where the code that pages show is compiled and run.
const COMPILED: [&str; 3] = ["tests/it/guide/", "sim/tests/it/", "cli/tests/clients/rust/src/"];

/// Where the files of this project are for readers of the book.
const REPOSITORY: &str = "https://github.com/windtunnel/windtunnel/blob/main/";

/// What `sh` blocks may run. Commands of `windtunnel` itself stand in blocks `console`, which a test runs.
const PROGRAMS: [&str; 5] = ["cargo ", "git clone ", "cd ", "mdbook ", "man "];

/// Pages that are included as they are: they have rules of their own where they stand.
const INCLUDED: [&str; 2] = ["reference/case-files.md", "reference/cassettes.md"];

const INCLUDE: &str = "{{#include ";

#[test]
fn the_summary_has_every_page_once() {
    let pages = pages();
    let summary = links(&pages["SUMMARY.md"]);
    let listed: BTreeSet<_> = summary.iter().cloned().collect();
    assert_eq!(listed.len(), summary.len(), "a page is listed twice");
    let there: BTreeSet<_> = pages.into_keys().filter(|page| page != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}

#[test]
fn every_link_leads_somewhere() {
    let texts: BTreeMap<_, _> =
        pages().into_iter().map(|(page, text)| (page.clone(), with_pages(&page, &text))).collect();
    let mut broken = Vec::new();
    for (page, text) in &texts {
        let targets = links(text);
        broken.extend(
            targets
                .iter()
                .filter(|target| !leads_somewhere(&texts, page, target))
                .map(|target| format!("{page}: {target}")),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_link_of_the_readme_leads_somewhere() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let inside = links(&readme).into_iter().filter(|target| !target.starts_with("https://"));
    let broken: Vec<_> = inside.filter(|target| !root().join(target.split('#').next().unwrap()).exists()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

fn leads_somewhere(texts: &BTreeMap<String, String>, page: &str, target: &str) -> bool {
    if let Some(path) = target.strip_prefix(REPOSITORY) {
        return root().join(path.split('#').next().unwrap()).exists();
    }
    if target.starts_with("https://") {
        return true;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let name = if file.is_empty() { page.to_owned() } else { joined(folder, file) };
    match texts.get(&name) {
        Some(text) => heading.is_empty() || headings(text).contains(heading),
        None => heading.is_empty() && !name.ends_with(".md") && beside(page, file).exists(),
    }
}

/// A path from a folder of the book.
fn joined(folder: &str, file: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn no_code_is_shown_that_no_test_runs() {
    let mut offences = Vec::new();
    for (page, text) in pages().into_iter().filter(|(page, _)| !INCLUDED.contains(&page.as_str())) {
        for block in blocks(&text) {
            if let Err(offence) = check_block(&page, &block.language, &block.body) {
                offences.push(format!("{page}: {offence}:\n{}", block.body));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

fn check_block(page: &str, language: &str, body: &str) -> Result<(), String> {
    match language {
        // `console` is run by the tests of the command.
        "console" | "text" => Ok(()),
        "sh" => {
            match body.lines().find(|line| !PROGRAMS.iter().any(|program| without_variables(line).starts_with(program)))
            {
                Some(line) => Err(format!("`{line}` belongs in a block `console`, or to no page")),
                None => Ok(()),
            }
        }
        "toml" | "json" if !body.starts_with(INCLUDE) => check_data(language, body),
        "rust" => check_include(page, body, &COMPILED),
        "python" | "js" | "yaml" | "toml" | "json" => check_include(page, body, &["docs/src/code/", "examples/"]),
        _ => Err(format!("nothing runs a block of `{language}`")),
    }
}

/// A command without the variables before it.
fn without_variables(line: &str) -> &str {
    let is_variable = |word: &str| word.contains('=') && word.starts_with(|letter: char| letter.is_ascii_uppercase());
    match line.split_once(' ') {
        Some((word, rest)) if is_variable(word) => without_variables(rest),
        _ => line,
    }
}

fn check_data(language: &str, body: &str) -> Result<(), String> {
    let read = match language {
        "toml" => body.parse::<toml::Table>().map(drop).map_err(|error| error.to_string()),
        _ => serde_json::from_str::<serde_json::Value>(body).map(drop).map_err(|error| error.to_string()),
    };
    read.map_err(|problem| format!("this is no {language}: {problem}"))
}

/// A block may only include, and only files that tests compile and run.
fn check_include(page: &str, body: &str, places: &[&str]) -> Result<(), String> {
    let what = body.strip_prefix(INCLUDE).and_then(|rest| rest.strip_suffix("}}"));
    let what = what.filter(|what| !what.contains('\n')).ok_or("include it from a file that a test compiles or runs")?;
    let (file, anchor) = what.split_once(':').map_or((what, None), |(file, anchor)| (file, Some(anchor)));
    let path = beside(page, file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    let path = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let path = path.strip_prefix(fs::canonicalize(root()).unwrap()).unwrap().display().to_string();
    if !places.iter().any(|place| path.starts_with(place)) {
        return Err(format!("no test runs {path}"));
    }
    match anchor {
        Some(anchor) if anchored(&text, anchor).is_none_or(|text| text.trim().is_empty()) => {
            Err(format!("{path} has nothing of the name `{anchor}`"))
        }
        _ => Ok(()),
    }
}

#[test]
fn what_is_wrong_with_a_page_is_noticed() {
    let rust = |body: &str| check_block("rust-agent.md", "rust", body).unwrap_err();
    assert!(rust("fn main() {}").contains("include it"));
    assert!(rust("{{#include ../../tests/it/guide/agent.rs:nothing}}").contains("nothing of the name"));
    assert!(rust("{{#include ../../src/lib.rs}}").contains("no test runs src/lib.rs"));
    for (language, body) in [("sh", "windtunnel run x"), ("sh", "curl x"), ("go", ""), ("json", "{"), ("toml", "=")] {
        assert!(check_block("rust-agent.md", language, body).is_err(), "{language}: {body}");
    }
    let texts = BTreeMap::from([
        ("a.md".to_owned(), "# One\n## Two `x`: y\n# One\n".to_owned()),
        ("b/c.md".to_owned(), String::new()),
    ]);
    for target in ["a.md", "#one", "#two-x-y", "#one-1", "b/c.md", "https://example.com"] {
        assert!(leads_somewhere(&texts, "a.md", target), "{target}");
    }
    for target in
        ["c.md", "#three", "b/c.md#one", "../a.md/x.md", "https://github.com/windtunnel/windtunnel/blob/main/no"]
    {
        assert!(!leads_somewhere(&texts, "a.md", target), "{target}");
    }
    assert!(leads_somewhere(&texts, "b/c.md", "../a.md#one"));
}
