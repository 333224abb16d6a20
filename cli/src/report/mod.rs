//! `--report`: what a command found, as a page for the browser.

mod campaign;
mod checked;
mod figures;
mod option;
mod source;

pub(crate) use campaign::{of_run, of_sweep};
pub(crate) use checked::CheckedCases;
pub(crate) use figures::Figures;
pub(crate) use option::ReportOption;
pub(crate) use source::Source;
