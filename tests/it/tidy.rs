//! The rules of the source tree, each as a test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

const LINES_OF_A_FILE_MAX: usize = 500;
const LINES_OF_A_FUNCTION_MAX: usize = 70;

/// What each package may depend on, of our own: arrows point one way only.
const ARROWS: [(&str, &[&str]); 7] = [
    ("alarm", &[]),
    ("core", &[]),
    ("fixtures", &["windtunnel-core"]),
    ("sim", &["windtunnel-alarm", "windtunnel-core", "windtunnel-fixtures"]),
    ("proptests", &["windtunnel-core", "windtunnel-fixtures", "windtunnel-sim"]),
    ("cli", &["windtunnel-core", "windtunnel-fixtures", "windtunnel-sim"]),
    (".", &["windtunnel-core", "windtunnel-fixtures", "windtunnel-sim"]),
];

/// The one package that may hold unsafe code: it stands in for functions of the C library.
const UNSAFE: &str = "alarm";

/// Names that say nothing of what is inside.
const NAMELESS: [&str; 6] = ["utils.rs", "util.rs", "helpers.rs", "common.rs", "misc.rs", "imp.rs"];

/// What must not stand in a source file, and why.
const BANNED: [(&str, &str); 5] = [
    (concat!("#[", "ignore"), "an ignored test proves nothing: assert what is wrong, or delete it"),
    (concat!("FIX", "ME"), "finish it, or say so where users read it"),
    (concat!("TO", "DO"), "finish it, or say so where users read it"),
    (concat!("Hash", "Map::new"), "its order is random: use `BTreeMap` or `IndexMap`"),
    (concat!("rand::rng", "()"), "draw through `Env`"),
];

#[test]
fn dependencies_follow_the_arrows() {
    for (package, allowed) in ARROWS {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let ours = dependencies.into_iter().flat_map(toml::Table::keys).filter(|name| name.starts_with("windtunnel"));
        let against: Vec<_> = ours.filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(against.is_empty(), "{package}/Cargo.toml depends on {against:?}, against the arrows");
    }
}

#[test]
fn every_package_is_held_to_the_workspaces_lints() {
    for (package, _) in ARROWS.into_iter().filter(|(package, _)| *package != UNSAFE) {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{package}/Cargo.toml has lints of its own");
    }
}

#[test]
fn the_package_with_unsafe_code_has_the_workspaces_lints_but_for_that() {
    let read = |path: &Path| fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let mut workspaces = read(&root().join("Cargo.toml"))["workspace"]["lints"].clone();
    let mut own = read(&root().join(UNSAFE).join("Cargo.toml"))["lints"].clone();
    let forbidden = workspaces["rust"].as_table_mut().unwrap().remove("unsafe_code");
    assert_eq!(forbidden.unwrap().as_str(), Some("forbid"));
    for (group, lint) in [("rust", "unsafe_op_in_unsafe_fn"), ("clippy", "undocumented_unsafe_blocks")] {
        let held = own[group].as_table_mut().unwrap().remove(lint);
        assert_eq!(held.unwrap().as_str(), Some("deny"), "{lint}");
    }
    assert_eq!(own, workspaces);
}

#[test]
fn files_and_functions_are_small() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LINES_OF_A_FILE_MAX {
            offences.push(format!("{path}: {lines} lines: two concepts, make two files"));
        }
        let mut functions = Functions { path: &path, offences: &mut offences };
        functions.visit_file(&syn::parse_file(&text).unwrap());
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn module_roots_only_declare_and_re_export() {
    let mut offences = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| path.ends_with("/mod.rs")) {
        let items = syn::parse_file(&text).unwrap().items;
        if items.iter().any(|item| !matches!(item, syn::Item::Mod(_) | syn::Item::Use(_))) {
            offences.push(format!("{path}: move what is not `mod` or `use` into a file of its own"));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn names_of_files_say_what_is_inside() {
    let nameless: Vec<_> =
        sources().into_keys().filter(|path| NAMELESS.iter().any(|name| path.ends_with(&format!("/{name}")))).collect();
    assert!(nameless.is_empty(), "{nameless:?}");
}

#[test]
fn nothing_banned_stands_in_the_sources() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            for (banned, reason) in BANNED {
                if line.contains(banned) {
                    offences.push(format!("{path}:{}: {banned}: {reason}", number + 1));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// Collects the functions that are too long.
struct Functions<'a> {
    path: &'a str,
    offences: &'a mut Vec<String>,
}

impl Functions<'_> {
    fn check(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (signature.fn_token.span.start().line, block.brace_token.span.close().end().line);
        let lines = last - first + 1;
        if lines > LINES_OF_A_FUNCTION_MAX {
            self.offences.push(format!("{}:{first}: `{}` has {lines} lines", self.path, signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.check(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.check(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the project by its path, without what was built.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let folders =
        ["alarm", "core", "fixtures", "sim", "proptests", "cli", "src", "tests", "examples", "benches", "fuzz/src"];
    for folder in folders {
        collect(&root().join(folder), &mut found);
    }
    assert!(found.len() > 50, "the sources are not where they are expected");
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}
