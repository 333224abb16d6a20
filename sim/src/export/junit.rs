//! Verdicts as JUnit XML, which services for continuous integration show.

use std::fmt::Write;

/// Tests that belong together: the cases of a file, or the seeds of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JunitSuite {
    /// What it is called.
    pub name: String,
    /// Its tests.
    pub cases: Vec<JunitCase>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JunitCase {
    /// What it is called in its suite.
    pub name: String,
    /// How it came out.
    pub outcome: JunitOutcome,
}

/// How a test came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JunitOutcome {
    /// As it must.
    Passed,
    /// Otherwise; the text says what is wrong and what repeats it. Its first line is the message.
    Failed(String),
    /// It could not be run; the text says why.
    Error(String),
}

/// The suites as JUnit XML.
///
/// There are no times in it: a world's are not those that a reader expects, and real ones would differ each time.
/// Characters that XML cannot hold are written as Rust writes them, such as `\u{1b}`.
///
/// ```
/// use windtunnel_sim::export::{JunitCase, JunitOutcome, JunitSuite, junit};
///
/// let failed = JunitOutcome::Failed("paid twice\nto repeat it: windtunnel replay pay.toml --seed 6".to_owned());
/// let cases = vec![JunitCase { name: "seed 6".to_owned(), outcome: failed }];
/// let xml = junit(&[JunitSuite { name: "pay".to_owned(), cases }]);
/// assert!(xml.contains(r#"<failure message="paid twice">"#));
/// ```
pub fn junit(suites: &[JunitSuite]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    line(&mut xml, format_args!("<testsuites name=\"windtunnel\" {}>", Counts::of(all())));
    for suite in suites {
        let (name, counts) = (attribute(&suite.name), Counts::of(&suite.cases));
        line(&mut xml, format_args!("  <testsuite name=\"{name}\" {counts} skipped=\"0\">"));
        for case in &suite.cases {
            let (class, case_name) = (&name, attribute(&case.name));
            let begin = format!("    <testcase classname=\"{class}\" name=\"{case_name}\"");
            match &case.outcome {
                JunitOutcome::Passed => line(&mut xml, format_args!("{begin}/>")),
                JunitOutcome::Failed(text) => problem(&mut xml, &begin, "failure", text),
                JunitOutcome::Error(text) => problem(&mut xml, &begin, "error", text),
            }
        }
        line(&mut xml, format_args!("  </testsuite>"));
    }
    line(&mut xml, format_args!("</testsuites>"));
    xml
}

struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
}

impl Counts {
    fn of<'a>(cases: impl IntoIterator<Item = &'a JunitCase>) -> Self {
        let mut counts = Self { tests: 0, failures: 0, errors: 0 };
        for case in cases {
            counts.tests += 1;
            match case.outcome {
                JunitOutcome::Passed => {}
                JunitOutcome::Failed(_) => counts.failures += 1,
                JunitOutcome::Error(_) => counts.errors += 1,
            }
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tests, failures, errors } = self;
        write!(formatter, "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
    }
}

fn problem(xml: &mut String, begin: &str, element: &str, text: &str) {
    let message = attribute(text.lines().next().unwrap_or_default());
    line(xml, format_args!("{begin}>"));
    line(xml, format_args!("      <{element} message=\"{message}\">{}</{element}>", escaped(text)));
    line(xml, format_args!("    </testcase>"));
}

fn line(xml: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = writeln!(xml, "{line}");
}

/// A reader would make spaces of line breaks in an attribute.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            // These are no characters of XML 1.0, or what breaks terminals and lines.
            '\u{fffe}' | '\u{ffff}' => escaped.extend(letter.escape_unicode()),
            _ if letter.is_control() => escaped.extend(letter.escape_unicode()),
            _ => escaped.push(letter),
        }
    }
    escaped
}
