//! `windtunnel check`: do the cases come out as they say?

use std::io::{self, Write};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format as FileFormat, LoadError, Verdict};
use windtunnel_sim::export::{JunitCase, JunitOutcome, JunitSuite, junit};
use windtunnel_sim::report::{ReportedFailure, ReportedRun, Snippet};

use crate::arguments::{CheckOptions, Format, jobs};
use crate::excerpt::{self, Place};
use crate::exported;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::report::CheckedCases;
use crate::shell;
use crate::status::Status;
use crate::style::Style;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// One case with what came of it.
struct Checked {
    case: Case,
    verdict: Verdict,
    /// Why two runs of the same seed were not the same.
    divergence: Option<String>,
    events: usize,
    elapsed_s: f64,
    /// For a report, if one is asked for.
    run: Option<ReportedRun>,
}

#[derive(Default)]
struct Counts {
    files: usize,
    unreadable: usize,
    cases: usize,
    checked: usize,
    failed: usize,
    /// Cases that expect and assert nothing.
    silent: usize,
    /// What a report tells of them, if one is asked for.
    reported: Option<CheckedCases>,
}

pub(crate) fn check(
    options: &CheckOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    options.report.check()?;
    let reported = options.report.is_asked().then(CheckedCases::default);
    let mut counts = Counts { files: options.files.len(), reported, ..Counts::default() };
    let mut suites = Vec::new();
    for file in &options.files {
        let name = file.clone();
        let Some(loaded) = pool::interruptible(interrupt, move || load(&name))? else { break };
        match loaded {
            Ok(cases) => {
                counts.cases += cases.len();
                let cases = check_cases(file, cases, options, interrupt, style, &mut counts, out)?;
                suites.push(JunitSuite { name: file.clone(), cases });
            }
            Err(error) => {
                counts.unreadable += 1;
                if let Some(reported) = &mut counts.reported {
                    reported.add_unreadable(file, &error.to_string());
                }
                let unread = JunitCase { name: file.clone(), outcome: JunitOutcome::Error(error.to_string()) };
                suites.push(JunitSuite { name: file.clone(), cases: vec![unread] });
                write_unreadable(&error, options.format, style, out)?;
            }
        }
    }
    exported::write(options.junit.as_deref(), || junit(&suites))?;
    let is_interrupted = interrupt.is_pressed();
    if counts.checked < counts.cases && !is_interrupted {
        return Err(Failure::Lost);
    }
    if let Some(cases) = counts.reported.take() {
        options.report.save(&cases.into_report(&options.files.join(", ")))?;
    }
    match options.format {
        Format::Text => write_counts(&counts, is_interrupted, style, out)?,
        Format::Json => write_line(out, &counts_to_json(&counts, is_interrupted))?,
    }
    Ok(match counts {
        _ if is_interrupted => Status::Interrupted,
        Counts { unreadable: 1.., .. } => Status::Misused,
        Counts { failed: 1.., .. } => Status::Failed,
        _ => Status::Passed,
    })
}

fn load(file: &str) -> Result<Vec<Case>, LoadError> {
    match file {
        // A cassette is named from the working folder.
        STDIN => Case::read_in("", "<stdin>", FileFormat::JsonLines, io::stdin().lock()),
        _ => Case::load(file),
    }
}

fn check_cases(
    file: &str,
    cases: Vec<Case>,
    options: &CheckOptions,
    interrupt: &Interrupt,
    style: Style,
    counts: &mut Counts,
    out: &mut impl Write,
) -> Result<Vec<JunitCase>, Failure> {
    let mut tests = Vec::new();
    let is_only_case = cases.len() == 1;
    let jobs = jobs(options.jobs).min(NonZeroUsize::new(cases.len()).unwrap_or(NonZeroUsize::MIN));
    let has_report = counts.reported.is_some();
    let work = move |case| check_case(case, has_report);
    for mut checked in pool::ordered(jobs, cases.into_iter(), interrupt, work)? {
        counts.checked += 1;
        counts.failed += usize::from(!checked.passed());
        counts.silent += usize::from(!checked.case.says_what_must_hold());
        if let (Some(reported), Some(mut run)) = (&mut counts.reported, checked.run.take()) {
            run.commands.extend(checked.again(file, is_only_case).map(|again| Snippet::new("Repeat it", again)));
            reported.add(checked.case.id(), run);
        }
        match options.format {
            Format::Text => checked.write_failures(file, is_only_case, style, out)?,
            Format::Json => write_line(out, &checked.to_json(file))?,
        }
        if options.junit.is_some() {
            tests.push(checked.to_junit(file, is_only_case));
        }
    }
    Ok(tests)
}

/// Runs a case twice.
fn check_case(case: Case, has_report: bool) -> Checked {
    let (run, divergence) = match case.check_determinism(case.seed()) {
        Ok(run) => (run, None),
        Err(divergence) => (case.run(case.seed()), Some(divergence.to_string())),
    };
    let verdict = case.judge(&run);
    let reported = has_report.then(|| {
        let mut reported = ReportedRun::of_case(case.id(), &run, &verdict);
        let divergence = divergence.iter().map(|message| ReportedFailure { message: message.clone(), event: None });
        reported.failures.extend(divergence);
        reported
    });
    Checked {
        verdict,
        divergence,
        run: reported,
        events: run.trace().len(),
        elapsed_s: run.elapsed().as_secs_f64(),
        case,
    }
}

impl Checked {
    fn passed(&self) -> bool {
        self.verdict.passed() && self.divergence.is_none()
    }

    fn write_failures(&self, file: &str, is_only_case: bool, style: Style, out: &mut impl Write) -> io::Result<()> {
        if self.passed() {
            return Ok(());
        }
        let id = self.case.id();
        writeln!(out, "{} {} ({})", style.bad("FAILED"), style.strong(id), self.case.place())?;
        self.failures().iter().try_for_each(|failure| write_indented(out, failure))?;
        if let Some(again) = self.again(file, is_only_case) {
            writeln!(out, "  {}", style.faint(&format!("to see it: {again}")))?;
        }
        writeln!(out)?;
        // A failure is shown when it is found, not when all is done.
        out.flush()
    }

    fn failures(&self) -> Vec<String> {
        self.verdict.failures().into_iter().chain(self.divergence.clone()).collect()
    }

    /// The command that shows the run.
    fn again(&self, file: &str, is_only_case: bool) -> Option<String> {
        let id = (!is_only_case).then_some(self.case.id());
        (file != STDIN).then(|| shell::replay(file, id, self.case.seed()))
    }

    fn to_junit(&self, file: &str, is_only_case: bool) -> JunitCase {
        let again = self.again(file, is_only_case).map(|again| format!("to see it: {again}"));
        let text = || self.failures().into_iter().chain(again).collect::<Vec<_>>().join("\n");
        let outcome = if self.passed() { JunitOutcome::Passed } else { JunitOutcome::Failed(text()) };
        JunitCase { name: self.case.id().to_owned(), outcome }
    }

    fn to_json(&self, file: &str) -> Value {
        let mut line = json!({
            "type": "case",
            "file": file,
            "line": self.case.place().line,
            "id": self.case.id(),
            "seed": self.case.seed(),
            "events": self.events,
            "elapsed_s": self.elapsed_s,
        });
        line["verdict"] = self.verdict.to_json();
        line["divergence"] = json!(self.divergence);
        line["passed"] = json!(self.passed());
        line
    }
}

/// Two spaces before each line.
pub(crate) fn write_indented(out: &mut impl Write, text: &str) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "  {line}"))
}

/// A JSON object on a line of its own.
pub(crate) fn write_line(out: &mut impl Write, value: &Value) -> io::Result<()> {
    writeln!(out, "{value}")
}

fn write_unreadable(error: &LoadError, format: Format, style: Style, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Text => {
            // In order with what is on standard output, where both go to one terminal.
            out.flush()?;
            // Where this cannot be written, the counts and the exit code still say it.
            let (style, mut stderr) = (style.of_stderr(), io::stderr().lock());
            let told = writeln!(stderr, "{} {error}", style.bad("error:"));
            let _unwritten = told.and_then(|()| match Place::of_case(error) {
                Some(place) => excerpt::write(&place, style, &mut stderr),
                None => Ok(()),
            });
            Ok(())
        }
        Format::Json => write_line(out, &error_to_json(error)),
    }
}

fn error_to_json(error: &LoadError) -> Value {
    let mut line = json!({"type": "error", "message": error.to_string()});
    if let LoadError::Invalid { place, path, problem } = error {
        line["file"] = json!(place.file);
        line["line"] = json!(place.line);
        line["column"] = json!(place.column);
        line["path"] = json!(path.as_ref().map(ToString::to_string));
        line["problem"] = json!(problem);
    }
    line
}

fn write_counts(counts: &Counts, is_interrupted: bool, style: Style, out: &mut impl Write) -> io::Result<()> {
    let Counts { cases, checked, failed, unreadable, silent, .. } = *counts;
    if is_interrupted {
        writeln!(out, "interrupted after {checked} of {cases} cases")?;
    }
    let passed = format!("{} passed", checked - failed);
    let failed = if failed > 0 { style.bad(&format!("{failed} failed")) } else { "0 failed".to_owned() };
    write!(out, "{}, {failed}", style.good(&passed))?;
    match silent {
        0 => {}
        1 => write!(out, ", 1 case neither expects nor asserts anything")?,
        _ => write!(out, ", {silent} cases neither expect nor assert anything")?,
    }
    match unreadable {
        0 => writeln!(out),
        1 => writeln!(out, ", 1 file not accepted"),
        _ => writeln!(out, ", {unreadable} files not accepted"),
    }
}

fn counts_to_json(counts: &Counts, is_interrupted: bool) -> Value {
    let Counts { files, unreadable, cases, checked, failed, silent, .. } = *counts;
    json!({
        "type": "summary",
        "files": files,
        "unreadable": unreadable,
        "cases": cases,
        "passed": checked - failed,
        "failed": failed,
        "silent": silent,
        "interrupted": is_interrupted,
    })
}
