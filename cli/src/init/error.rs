//! Why a crate gets no first test.

use std::io;
use std::path::PathBuf;

/// A crate got no first test; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    /// There is no crate.
    #[error("{}: there is no Cargo.toml; make a crate with `cargo init`, or name the folder of yours", folder.display())]
    NoManifest {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// It is the manifest of a workspace alone.
    #[error("{}: this is a workspace without a package; name the folder of one of its packages", manifest.display())]
    NoPackage {
        /// The manifest.
        manifest: PathBuf,
    },
    /// The manifest is not TOML, or its tables are not those of a manifest.
    #[error("{}: {problem}", manifest.display())]
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file would be overwritten.
    #[error("{}: there is such a file already, and it stays; move it away, or write a test beside it", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// What was named is not Windtunnel.
    #[error("{}: there is no Windtunnel here: its Cargo.toml has a package `windtunnel`", folder.display())]
    NoWindtunnel {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {source}; nothing was changed", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}
