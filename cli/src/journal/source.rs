//! The workflows of a file, one after another.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use windtunnel_core::durable::sqlite::{Finding, JournalFile, SqliteError, WorkflowReading};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;

/// How many identifiers a message lists.
const IDS_MAX: usize = 20;

/// A file that was opened, and which workflows of it are asked for.
pub(super) struct Opened {
    /// Shared with a worker, which may outlive the command.
    file: Arc<Mutex<Option<JournalFile>>>,
    findings: Vec<Finding>,
    numbers: RangeInclusive<u64>,
}

/// What can be read of a workflow: nothing of one whose row is damaged.
pub(super) type Read = Result<Result<WorkflowReading, Finding>, SqliteError>;

impl Opened {
    /// Opens a file; nothing, after an interrupt.
    pub(super) fn open(file: &str, workflow: Option<&str>, interrupt: &Interrupt) -> Result<Option<Self>, Failure> {
        let (file, workflow) = (file.to_owned(), workflow.map(str::to_owned));
        let opened = pool::interruptible(interrupt, move || {
            let opened = JournalFile::open(&file)?;
            let numbers = match workflow {
                None => 1..=opened.workflows(),
                Some(workflow) => {
                    let number = number_of(&file, &opened, &workflow)?;
                    number..=number
                }
            };
            let findings = opened.findings().to_vec();
            Ok(Self { file: Arc::new(Mutex::new(Some(opened))), findings, numbers })
        })?;
        opened.transpose()
    }

    /// What is wrong with the file itself.
    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The workflows that are asked for, each read when it is needed.
    pub(super) fn workflows(&self, interrupt: &Interrupt) -> Result<impl Iterator<Item = Read>, Failure> {
        let file = Arc::clone(&self.file);
        let read = pool::ordered(NonZeroUsize::MIN, self.numbers.clone(), interrupt, move |number| {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.as_ref().map(|file| file.workflow_at(number))
        })?;
        Ok(read.flatten())
    }
}

/// What SQLite put beside the file goes away with the last one who reads it.
impl Drop for Opened {
    fn drop(&mut self) {
        // After an interrupt a worker may still read. Nobody waits for it then.
        if let Ok(mut file) = self.file.try_lock() {
            drop(file.take());
        }
    }
}

fn number_of(name: &str, file: &JournalFile, workflow: &str) -> Result<u64, Failure> {
    let ids = file.workflow_ids()?;
    if let Some(number) = (1..).zip(&ids).find_map(|(number, id)| (id.as_deref() == Ok(workflow)).then_some(number)) {
        return Ok(number);
    }
    let readable = ids.iter().flatten().map(|id| format!("{id:?}"));
    let mut listed: Vec<_> = readable.take(IDS_MAX).collect();
    if ids.len() > IDS_MAX {
        listed.push("…".to_owned());
    }
    let unreadable = ids.iter().filter(|id| id.is_err()).count();
    let damaged = if unreadable > 0 { format!(", and {unreadable} that are damaged") } else { String::new() };
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    Err(Failure::Selection(format!("{name}: there is no workflow {workflow:?}; it holds: {listed}{damaged}")))
}
