//! From a crate without a test in a world to one that has one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use windtunnel_sim::export;

use super::arguments::InitOptions;
use super::error::InitError;
use super::manifest::{ManifestError, Origin, with_windtunnel};
use crate::failure::Failure;
use crate::status::Status;
use crate::style::Style;

/// What a crate gets.
const FILES: [(&str, &str); 2] = [
    ("tests/windtunnel.rs", include_str!("../../templates/windtunnel.rs")),
    ("windtunnel/first.toml", include_str!("../../templates/first.toml")),
];

pub(crate) fn perform(options: &InitOptions, style: Style, out: &mut impl Write) -> Result<Status, Failure> {
    let folder = &options.folder;
    let manifest = folder.join("Cargo.toml");
    let text = match fs::read_to_string(&manifest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(InitError::NoManifest { folder: folder.clone() }.into());
        }
        read => read.map_err(|source| InitError::Io { file: manifest.clone(), source })?,
    };
    let changed = with_windtunnel(&text, &origin(options)?).map_err(|error| match error {
        ManifestError::NoPackage => InitError::NoPackage { manifest: manifest.clone() },
        ManifestError::Invalid(problem) => InitError::Manifest { manifest: manifest.clone(), problem },
    })?;
    write_all(folder, &manifest, (changed != text).then_some(&changed))?;
    for (name, _) in FILES {
        writeln!(out, "{} {}", style.good("added"), folder.join(name).display())?;
    }
    match changed == text {
        true => writeln!(out, "{} depends on windtunnel already", manifest.display())?,
        false => {
            writeln!(out, "{} {}: windtunnel among its dev-dependencies", style.good("changed"), manifest.display())?
        }
    }
    let place = if folder == Path::new(".") { String::new() } else { format!(", in {}", folder.display()) };
    writeln!(out, "\nnow{place}:\n")?;
    writeln!(out, "  {}", style.strong("cargo test --test windtunnel"))?;
    writeln!(out, "  {}", style.strong("windtunnel run windtunnel/first.toml --seeds 0..200"))?;
    writeln!(out, "\nboth pass, and each file says how to break what it tests")?;
    Ok(Status::Passed)
}

fn origin(options: &InitOptions) -> Result<Origin, InitError> {
    if let Some(url) = &options.git {
        return Ok(Origin::Git(url.clone()));
    }
    let Some(path) = &options.windtunnel_path else {
        return Ok(Origin::Git(env!("CARGO_PKG_REPOSITORY").to_owned()));
    };
    let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
    if !manifest.lines().any(|line| line.replace(' ', "") == "name=\"windtunnel\"") {
        return Err(InitError::NoWindtunnel { folder: path.clone() });
    }
    // A path in a manifest is told from the manifest's folder.
    let is_told_from_here = path.is_relative() && options.folder != Path::new(".");
    let path = if is_told_from_here { fs::canonicalize(path) } else { Ok(path.clone()) };
    let path = path.map_err(|source| InitError::Io { file: manifest_of(options), source })?;
    Ok(Origin::Path(path.display().to_string()))
}

fn manifest_of(options: &InitOptions) -> PathBuf {
    options.folder.join("Cargo.toml")
}

/// Writes all of it or nothing. What is there already is never overwritten.
fn write_all(folder: &Path, manifest: &Path, changed: Option<&String>) -> Result<(), InitError> {
    let files = FILES.map(|(name, text)| (folder.join(name), text));
    if let Some((file, _)) = files.iter().find(|(file, _)| file.symlink_metadata().is_ok()) {
        return Err(InitError::Exists { file: file.clone() });
    }
    let folders: Vec<_> =
        files.iter().filter_map(|(file, _)| file.parent()).filter(|folder| !folder.exists()).collect();
    let mut written = Vec::new();
    let result = files.iter().try_for_each(|(file, text)| {
        create(file, text).map_err(|source| InitError::Io { file: file.clone(), source })?;
        written.push(file);
        Ok(())
    });
    let result = result.and_then(|()| {
        let saved = changed.map_or(Ok(()), |text| export::save(manifest, text));
        saved.map_err(|error| InitError::Io { file: error.path, source: error.source })
    });
    if result.is_err() {
        // The error that is told is the first one.
        for file in written {
            let _unremoved = fs::remove_file(file);
        }
        for folder in folders {
            let _unremoved = fs::remove_dir(folder);
        }
    }
    result
}

fn create(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let written = OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes());
    if written.is_err() {
        // Half a file is worse than none.
        let _unremoved = fs::remove_file(file);
    }
    written
}
