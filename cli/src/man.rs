//! `windtunnel man`: a page of the manual for each command.

use std::fs;
use std::io::Write;

use clap::CommandFactory;
use windtunnel_sim::export::SaveError;

use crate::arguments::{Arguments, ManOptions};
use crate::failure::Failure;
use crate::status::Status;

pub(crate) fn man(options: &ManOptions, out: &mut impl Write) -> Result<Status, Failure> {
    let folder = &options.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|source| SaveError { path: folder.into(), source })?;
    writeln!(out, "the manual is in {folder}; `man {folder}/windtunnel.1` shows its first page")?;
    Ok(Status::Passed)
}
