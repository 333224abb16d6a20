//! Programs in files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use serde_json::{Value, json};
use windtunnel_core::evaluator::{Program, ProgramError};
use windtunnel_core::json::{BoundsError, ParseError, ParseErrorKind, Path};

use crate::excerpt::Place;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// One thing for which a file is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The place in the program's JSON.
    path: String,
    /// The line and the column in the text, if it is about a place.
    position: Option<(usize, usize)>,
    problem: String,
}

/// What was found in a file: a program, or why it is none.
pub(super) type Found = Result<Program, Vec<Flaw>>;

/// Reads a file; `Err` if the system does not let it be read, and `None` after an interrupt.
pub(super) fn find(file: &str, interrupt: &Interrupt) -> Result<Option<io::Result<Found>>, Failure> {
    let file = file.to_owned();
    pool::interruptible(interrupt, move || read(&file))
}

/// Reads a program where only a valid one is of use.
pub(super) fn program(file: &str) -> Result<Program, Failure> {
    let found = read(file).map_err(|source| unreadable(file, source))?;
    found.map_err(|flaws| {
        let lines: Vec<_> = flaws.iter().map(|flaw| flaw.line(file)).collect();
        let places = flaws.iter().filter_map(|flaw| flaw.place(file)).collect();
        Failure::Program { file: displayed(file).to_owned(), flaws: lines.join("\n"), places }
    })
}

pub(super) fn unreadable(file: &str, source: io::Error) -> Failure {
    Failure::Unreadable { file: displayed(file).to_owned(), source }
}

/// The file's name in messages.
pub(super) fn displayed(file: &str) -> &str {
    if file == STDIN { "<stdin>" } else { file }
}

fn read(file: &str) -> io::Result<Found> {
    let bytes_max = Program::BOUNDS.bytes_max;
    let mut bytes = Vec::new();
    // One byte more shows that there are more.
    let bytes_read_max = bytes_max as u64 + 1;
    match file {
        STDIN => io::stdin().lock().take(bytes_read_max).read_to_end(&mut bytes),
        _ => File::open(file)?.take(bytes_read_max).read_to_end(&mut bytes),
    }?;
    if bytes.len() > bytes_max {
        return Ok(Err(vec![Flaw::of_whole((1, 1), format!("larger than the {bytes_max} bytes allowed; split it"))]));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Program::parse(&text, Program::BOUNDS).map_err(|error| Flaw::all(&error)),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Err(vec![Flaw::of_whole(end_of(&String::from_utf8_lossy(valid)), "the text is not UTF-8".to_owned())])
        }
    })
}

/// The line and the column after the end of `text`.
fn end_of(text: &str) -> (usize, usize) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    (text.matches('\n').count() + 1, last.chars().count() + 1)
}

impl Flaw {
    fn all(error: &ProgramError) -> Vec<Self> {
        match error {
            ProgramError::Text(error) => vec![Self::of_text(error)],
            ProgramError::Invalid(offences) => offences
                .iter()
                .map(|offence| Self {
                    path: offence.path.to_string(),
                    position: offence.position,
                    problem: offence.problem.clone(),
                })
                .collect(),
        }
    }

    fn of_text(error: &ParseError) -> Self {
        let path = match &error.kind {
            ParseErrorKind::Syntax { path, .. }
            | ParseErrorKind::Number { path, .. }
            | ParseErrorKind::DuplicateMember { path }
            | ParseErrorKind::Bounds(BoundsError::TooLarge { path, .. } | BoundsError::TooDeep { path, .. }) => path,
        };
        let (path, message) = (path.to_string(), error.kind.to_string());
        let problem = message.strip_prefix(&path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
        Self { problem: problem.to_owned(), path, position: Some((error.line, error.column)) }
    }

    fn of_whole(position: (usize, usize), problem: String) -> Self {
        Self { path: "$".to_owned(), position: Some(position), problem }
    }

    /// A flaw of a node of which only the path is known.
    pub(super) fn at(path: Path, problem: String) -> Self {
        Self { path: path.to_string(), position: None, problem }
    }

    /// `file:line:column: path: problem`, on one line.
    pub(super) fn line(&self, file: &str) -> String {
        printable::line(&format!("{}{self}", displayed(file))).into_owned()
    }

    /// Where it is in the text, if it is about a place.
    pub(super) fn place(&self, file: &str) -> Option<Place> {
        self.position.map(|(line, column)| Place { file: displayed(file).to_owned(), line, column })
    }

    pub(super) fn to_json(&self) -> Value {
        let (line, column) = self.position.unzip();
        json!({"path": self.path, "line": line, "column": column, "problem": self.problem})
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(formatter, ":{line}:{column}: {}: {}", self.path, self.problem),
            // It is about what is not listed.
            None if self.path == "$" => write!(formatter, ": {}", self.problem),
            None => write!(formatter, ": {}: {}", self.path, self.problem),
        }
    }
}
