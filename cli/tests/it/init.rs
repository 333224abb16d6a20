//! `windtunnel init`.

use insta::assert_snapshot;

use crate::command::{Ended, Folder};

const MANIFEST: &str = "# Ours.\n[package]\nname = \"agent\" # as on the door\n\n[dependencies]\nserde = \"1\"\n";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path.join(name)).unwrap()
}

#[test]
fn a_crate_gets_a_first_test_and_a_first_case_that_passes() {
    let folder = Folder::new("init_crate", &[("Cargo.toml", MANIFEST)]);
    let ended = folder.run(&["init"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @"
    added ./tests/windtunnel.rs
    added ./windtunnel/first.toml
    changed ./Cargo.toml: windtunnel among its dev-dependencies

    now:

      cargo test --test windtunnel
      windtunnel run windtunnel/first.toml --seeds 0..200

    both pass, and each file says how to break what it tests
    ");
    assert_snapshot!(read(&folder, "Cargo.toml"), @r#"
    # Ours.
    [package]
    name = "agent" # as on the door

    [dependencies]
    serde = "1"

    [dev-dependencies]
    windtunnel = { git = "https://github.com/windtunnel/windtunnel" }
    "#);
    assert_eq!(read(&folder, "tests/windtunnel.rs"), include_str!("../../templates/windtunnel.rs"));
    // What it says to do next.
    assert_eq!(folder.run(&["check", "windtunnel/first.toml"]).code, Some(0));
    let run = ["run", "windtunnel/first.toml", "--seeds", "0..200"];
    assert_eq!(folder.run(&run).code, Some(0));
    // And how to break it.
    let broken = read(&folder, "windtunnel/first.toml").replace("\ntimeout_s = 2", "\ntimeout_s = 1");
    std::fs::write(folder.path.join("windtunnel/first.toml"), broken).unwrap();
    let ended = folder.run(&run);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("30 of 200 seeds failed"), "{}", ended.out);
}

#[test]
fn windtunnel_comes_from_where_it_is_said() {
    let windtunnel = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let folder = Folder::new("init_origin", &[("Cargo.toml", MANIFEST)]);
    assert_eq!(folder.run(&["init", ".", "--windtunnel-path", windtunnel]).code, Some(0));
    assert!(read(&folder, "Cargo.toml").contains(&format!("windtunnel = {{ path = \"{windtunnel}\" }}")));
    let folder = Folder::new("init_git", &[("Cargo.toml", MANIFEST)]);
    assert_eq!(folder.run(&["init", "--windtunnel-git", "https://example.com/w"]).code, Some(0));
    assert!(read(&folder, "Cargo.toml").contains("windtunnel = { git = \"https://example.com/w\" }"));
}

#[track_caller]
fn check_refused(folder: &Folder, arguments: &[&str]) -> String {
    let all = |folder: &Folder| {
        let mut names: Vec<_> =
            std::fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (before, manifest) = (all(folder), std::fs::read(folder.path.join("Cargo.toml")).ok());
    let Ended { code, out, err } = folder.run(arguments);
    assert_eq!((code, &*out), (Some(2), ""));
    assert_eq!((all(folder), std::fs::read(folder.path.join("Cargo.toml")).ok()), (before, manifest), "it was changed");
    err
}

#[test]
fn nothing_is_overwritten_and_nothing_is_changed_where_something_is_in_the_way() {
    let folder = Folder::new("init_twice", &[("Cargo.toml", MANIFEST)]);
    std::fs::create_dir(folder.path.join("windtunnel")).unwrap();
    std::fs::write(folder.path.join("windtunnel/first.toml"), "mine").unwrap();
    let told = check_refused(&folder, &["init"]);
    assert_snapshot!(told, @"error: ./windtunnel/first.toml: there is such a file already, and it stays; move it away, or write a test beside it");
    assert_eq!(read(&folder, "windtunnel/first.toml"), "mine");
    assert!(!folder.path.join("tests").exists());
    // Where the second file cannot be made, the first does not stay, nor its folder.
    let folder = Folder::new("init_in_the_way", &[("Cargo.toml", MANIFEST), ("windtunnel", "a file")]);
    let told = check_refused(&folder, &["init"]);
    assert!(told.ends_with("nothing was changed\n"), "{told}");
}

#[test]
fn a_folder_without_a_crate_is_refused_with_a_remedy() {
    let none = check_refused(&Folder::new("init_none", &[]), &["init"]);
    let workspace = check_refused(&Folder::new("init_workspace", &[("Cargo.toml", "[workspace]\n")]), &["init"]);
    let wrong = check_refused(&Folder::new("init_wrong", &[("Cargo.toml", "[package\nname = 1\n")]), &["init"]);
    let folder = Folder::new("init_nowhere", &[("Cargo.toml", MANIFEST)]);
    let nowhere = check_refused(&folder, &["init", "--windtunnel-path", "."]);
    assert_snapshot!([none, workspace, wrong, nowhere].concat(), @"
    error: .: there is no Cargo.toml; make a crate with `cargo init`, or name the folder of yours
    error: ./Cargo.toml: this is a workspace without a package; name the folder of one of its packages
    error: ./Cargo.toml: TOML parse error at line 1, column 9
      |
    1 | [package
      |         ^
    unclosed table, expected `]`

    error: .: there is no Windtunnel here: its Cargo.toml has a package `windtunnel`
    ");
}
