//! `windtunnel schema`: what a program may look like, for models and editors.

use std::io::{self, Write};

use windtunnel_core::evaluator::{Program, Version};

use crate::arguments::{SchemaOptions, SchemaVersion};

/// Writes the schema, which ends with a newline.
pub(crate) fn schema(options: &SchemaOptions, out: &mut impl Write) -> io::Result<()> {
    let version = match options.version {
        SchemaVersion::V1 => Version::V1,
        SchemaVersion::V2 => Version::V2,
    };
    out.write_all(Program::schema(version).as_bytes())
}
