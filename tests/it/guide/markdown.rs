//! The pages of the guide as text: what they include, their blocks, their links and headings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use regex::Regex;

/// A block of code, as it is written.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) body: String,
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every page of the book by its path in `docs/src`.
pub(crate) fn pages() -> BTreeMap<String, String> {
    let source = root().join("docs/src");
    let (mut found, mut folders) = (BTreeMap::new(), vec![source.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(&source).unwrap().display().to_string();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// A page with what it includes of whole pages, such as a reference that stands elsewhere.
pub(crate) fn with_pages(page: &str, text: &str) -> String {
    let include = Regex::new(r"\{\{#include ([^}:]+\.md)\}\}").unwrap();
    let read = |found: &regex::Captures<'_>| fs::read_to_string(beside(page, &found[1])).unwrap();
    include.replace_all(text, read).into_owned()
}

/// A file that a page names from where it is.
pub(crate) fn beside(page: &str, target: &str) -> PathBuf {
    root().join("docs/src").join(page).parent().unwrap().join(target)
}

/// What is between the marks of this name in a file.
pub(crate) fn anchored(text: &str, name: &str) -> Option<String> {
    let is_mark = |line: &str, mark: &str| {
        line.trim() == format!("// {mark}: {name}") || line.trim() == format!("# {mark}: {name}")
    };
    let lines = text.lines().skip_while(|line| !is_mark(line, "ANCHOR")).skip(1);
    let mut is_closed = false;
    let found = lines.take_while(|line| {
        is_closed = is_mark(line, "ANCHOR_END");
        !is_closed
    });
    let found: Vec<_> = found.collect();
    is_closed.then(|| found.join("\n"))
}

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut lines) = (Vec::new(), text.lines());
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let body: Vec<_> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let language = info.split(',').next().unwrap_or_default().to_owned();
        found.push(Block { language, body: body.join("\n") });
    }
    found
}

/// The text without its code.
pub(crate) fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let lines: Vec<_> = lines.collect();
    lines.join("\n")
}

/// Where a text leads.
pub(crate) fn links(text: &str) -> Vec<String> {
    let code = Regex::new("`[^`\n]*`").unwrap();
    let text = code.replace_all(&prose(text), "code").into_owned();
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    link.captures_iter(&text).map(|found| found[1].to_owned()).collect()
}

/// The places in a text that a link can lead to, as mdBook names them.
pub(crate) fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose(text).lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let letters = title.chars().filter_map(|letter| match letter {
            _ if letter.is_alphanumeric() || letter == '_' || letter == '-' => Some(letter.to_ascii_lowercase()),
            _ if letter.is_whitespace() => Some('-'),
            _ => None,
        });
        let id: String = letters.collect();
        let ids = std::iter::once(id.clone()).chain((1..).map(|number| format!("{id}-{number}")));
        found.extend(ids.into_iter().find(|id| !found.contains(id)));
    }
    found
}

/// Holds a page to the story in its block ```` ```text ````. `WINDTUNNEL_UPDATE=1` puts it there.
#[track_caller]
pub(crate) fn assert_shown(page: &str, story: &str) {
    let path = root().join("docs/src").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let shown: Vec<_> = blocks(&text).into_iter().filter(|block| block.language == "text").collect();
    assert_eq!(shown.len(), 1, "docs/src/{page} shows one story");
    let (shown, story) = (&shown[0].body, story.trim_end());
    if shown != story && std::env::var_os("WINDTUNNEL_UPDATE").is_some() {
        let old = format!("```text\n{shown}\n```");
        return fs::write(path, text.replacen(&old, &format!("```text\n{story}\n```"), 1)).unwrap();
    }
    assert!(shown == story, "docs/src/{page} shows another story; WINDTUNNEL_UPDATE=1 writes this one:\n{story}");
}
