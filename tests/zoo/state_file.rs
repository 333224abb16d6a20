//! A small file that an agent keeps its state in.

use std::io;

use windtunnel::sim::Disk;

/// Replaces the file so that a power cut leaves the old text or the new one, and the new one once this has returned.
pub(crate) async fn replace(disk: &Disk, path: &str, text: &str) -> io::Result<()> {
    let new = format!("{path}.new");
    disk.write(&new, text).await?;
    disk.open(&new).await?.sync_all().await?;
    disk.rename(&new, path).await?;
    disk.sync_dir("/").await
}

/// What the file says; nothing, if there is none.
pub(crate) async fn read(disk: &Disk, path: &str) -> io::Result<String> {
    match disk.read(path).await {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}
