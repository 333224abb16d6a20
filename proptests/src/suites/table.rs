//! Reports side by side.

use std::fmt::Write;

use super::{Finding, Report};

/// A table in Markdown, with a row for each point and a column for each report. Points that a report does not have are
/// empty there.
///
/// ```
/// use windtunnel_proptests::suites::{Finding, Judged, Report, markdown_table};
///
/// let report = |subject: &str, finding| Report {
///     suite: "retry",
///     subject: subject.to_owned(),
///     points: vec![Judged { id: "attempts", demand: "as many calls as allowed", finding }],
/// };
/// let lacking = Finding::NotApplicable { lacking: "attempts".to_owned() };
/// let table = markdown_table(&[report("a", Finding::Kept { cases: 64 }), report("b", lacking)]);
/// assert_eq!(
///     table,
///     "| point | demand | a | b |\n| --- | --- | --- | --- |\n| `attempts` | as many calls as allowed | kept | n/a |\n"
/// );
/// ```
pub fn markdown_table(reports: &[Report]) -> String {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for judged in reports.iter().flat_map(|report| &report.points) {
        if rows.iter().all(|(id, _)| *id != judged.id) {
            rows.push((judged.id, judged.demand));
        }
    }
    let mut table = "| point | demand |".to_owned();
    for report in reports {
        let _infallible = write!(table, " {} |", cell(&report.subject));
    }
    table.push_str("\n| --- | --- |");
    table.push_str(&" --- |".repeat(reports.len()));
    table.push('\n');
    for (id, demand) in rows {
        let _infallible = write!(table, "| `{id}` | {} |", cell(demand));
        for report in reports {
            let _infallible = write!(table, " {} |", word(report.finding(id)));
        }
        table.push('\n');
    }
    table
}

fn word(finding: Option<&Finding>) -> &'static str {
    match finding {
        Some(Finding::Kept { .. }) => "kept",
        Some(Finding::Broken(_)) => "**broken**",
        Some(Finding::NotApplicable { .. }) => "n/a",
        None => "",
    }
}

/// What stands in one cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
