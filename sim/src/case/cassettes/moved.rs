//! A case that is written into another folder than its own.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Names the cassettes of a case that stands in the folder `from` as they are named from the folder `to`.
///
/// # Errors
/// If one of the folders is not there.
pub(in crate::case) fn move_cassettes(case: &mut Value, from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (canonical(from)?, canonical(to)?);
    if from == to {
        return Ok(());
    }
    let move_one = |named: &mut Value| {
        let Some(name) = named.get("cassette").and_then(Value::as_str) else { return Ok(()) };
        let file = from.join(name);
        let (Some(folder), Some(file_name)) = (file.parent(), file.file_name()) else { return Ok(()) };
        named["cassette"] = Value::String(between(&to, &folder.canonicalize()?.join(file_name)));
        Ok(())
    };
    if let Some(model) = case.get_mut("model") {
        move_one(model)?;
    }
    match case.get_mut("tools") {
        Some(Value::Array(tools)) => tools.iter_mut().try_for_each(move_one),
        _ => Ok(()),
    }
}

/// The folder's own path, whatever links lead to it.
fn canonical(folder: &Path) -> io::Result<PathBuf> {
    if folder.as_os_str().is_empty() { Path::new(".").canonicalize() } else { folder.canonicalize() }
}

/// The way from a folder to a file.
fn between(folder: &Path, file: &Path) -> String {
    let common = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = file.components().skip(common).map(|step| step.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_file_goes_up_and_down() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/c.json", "c.json"),
            ("/a/b", "/a/c.json", "../c.json"),
            ("/a/b/c", "/a/d/e.json", "../../d/e.json"),
            ("/", "/a/c.json", "a/c.json"),
        ] {
            assert_eq!(between(Path::new(folder), Path::new(file)), expected);
        }
    }
}
