//! Where two traces differ, for people.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table};
use serde_json::Value;

use super::comparison::Comparison;
use super::line::line;
use crate::printable;
use crate::style::Style;
use crate::summary;

/// From how many columns on two events stand beside each other.
const WIDTH_OF_TWO_MIN: u16 = 110;

/// Writes the comparison of the traces called `names`; `width` is the terminal's, if there is one.
pub(super) fn write(
    comparison: &Comparison<'_>,
    names: [&str; 2],
    width: Option<u16>,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    for (mark, name) in ["A", "B"].into_iter().zip(names) {
        writeln!(out, "{} {}", style.strong(&format!("{mark}:")), printable::line(name))?;
    }
    match comparison.index {
        0 => writeln!(out, "they differ from the first event on")?,
        1 => writeln!(out, "1 event is the same:")?,
        same => writeln!(out, "{same} events are the same, the last of them:")?,
    }
    comparison.before.iter().try_for_each(|event| writeln!(out, "  {}", style.faint(&line(event))))?;
    writeln!(out, "{}", style.strong(&format!("event {} differs:", comparison.index)))?;
    match width {
        Some(width) if width >= WIDTH_OF_TWO_MIN => writeln!(out, "{}", beside_each_other(comparison, width))?,
        _ => write_below_each_other(comparison, style, out)?,
    }
    write_differences(comparison, style, out)?;
    writeln!(out, "from there on:")?;
    writeln!(out, "{}", counts(comparison))
}

fn write_below_each_other(comparison: &Comparison<'_>, style: Style, out: &mut impl Write) -> io::Result<()> {
    for text in shown(comparison.first) {
        writeln!(out, "{}", style.bad(&format!("- {text}")))?;
    }
    for text in shown(comparison.second) {
        writeln!(out, "{}", style.good(&format!("+ {text}")))?;
    }
    Ok(())
}

/// Long lines go on in their column.
fn beside_each_other(comparison: &Comparison<'_>, width: u16) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::UTF8_FULL_CONDENSED).set_header(["A", "B"]);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let (first, second) = (shown(comparison.first), shown(comparison.second));
    let side = |side: &[String], row: usize| side.get(row).map(|line| squeezed(line)).unwrap_or_default();
    for row in 0..first.len().max(second.len()) {
        table.add_row([side(&first, row), side(&second, row)]);
    }
    table
}

/// Without the spaces that make columns of lines below each other.
fn squeezed(line: &str) -> String {
    line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

fn shown(events: &[Value]) -> Vec<String> {
    match events {
        [] => vec!["the trace ends here".to_owned()],
        events => events.iter().map(line).collect(),
    }
}

fn write_differences(comparison: &Comparison<'_>, style: Style, out: &mut impl Write) -> io::Result<()> {
    if comparison.differences.is_empty() {
        return Ok(());
    }
    writeln!(out, "it differs in:")?;
    let side = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    for difference in &comparison.differences {
        let (path, first, second) = (&difference.path, side(&difference.expected), side(&difference.found));
        let path = printable::line(&path.to_string()).into_owned();
        let (first, second) = (style.bad(&printable::line(&first)), style.good(&printable::line(&second)));
        writeln!(out, "  {path}: {first} in A, {second} in B")?;
    }
    Ok(())
}

fn counts(comparison: &Comparison<'_>) -> Table {
    let mut table = summary::table(["events", "A", "B"]);
    let mut all = [0, 0];
    for (name, [first, second]) in &comparison.counts {
        all = [all[0] + first, all[1] + second];
        table.add_row([printable::line(name).into_owned(), first.to_string(), second.to_string()]);
    }
    table.add_row(["all".to_owned(), all[0].to_string(), all[1].to_string()]);
    table
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::super::comparison::compare;
    use super::*;
    use crate::style::Colors;

    fn written(width: Option<u16>) -> String {
        let event = |attempt: u64, cause: &str| {
            let data = json!({"tool": "pay", "attempt": attempt, "cause": cause, "delay_s": 0.5});
            json!({"at_ns": attempt, "run_id": "run-1", "call_id": "call-1", "type": "tool.retry", "data": data})
        };
        let (first, second) = ([event(1, "timeout"), event(2, "timeout"), event(3, "timeout")], [event(1, "timeout")]);
        let comparison = compare(&first, &second, &[], 2).unwrap();
        let mut out = Vec::new();
        write(&comparison, ["a.jsonl", "b\u{1b}"], width, Style::of_stdout(Colors::Never), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn two_events_stand_beside_each_other_where_there_is_room() {
        assert_snapshot!(written(Some(120)), @r"
        A: a.jsonl
        B: b\u001b
        1 event is the same:
             0.000000001  run-1/call-1       tool.retry            tool=pay attempt=1 cause=timeout delay_s=0.5
        event 1 differs:
        ┌─────────────────────────────────────────────────────────────────────────────────────┬─────────────────────┐
        │ A                                                                                   ┆ B                   │
        ╞═════════════════════════════════════════════════════════════════════════════════════╪═════════════════════╡
        │ 0.000000002  run-1/call-1  tool.retry  tool=pay attempt=2 cause=timeout delay_s=0.5 ┆ the trace ends here │
        │ 0.000000003  run-1/call-1  tool.retry  tool=pay attempt=3 cause=timeout delay_s=0.5 ┆                     │
        └─────────────────────────────────────────────────────────────────────────────────────┴─────────────────────┘
        from there on:
        ┌────────────┬───┬───┐
        │ events     ┆ A ┆ B │
        ╞════════════╪═══╪═══╡
        │ tool.retry ┆ 2 ┆ 0 │
        │ all        ┆ 2 ┆ 0 │
        └────────────┴───┴───┘
        ");
        assert!(written(Some(300)).lines().all(|line| line.chars().count() <= 300));
    }

    #[test]
    fn they_stand_below_each_other_where_there_is_none_and_in_pipes() {
        assert_snapshot!(written(Some(80)), @r"
        A: a.jsonl
        B: b\u001b
        1 event is the same:
             0.000000001  run-1/call-1       tool.retry            tool=pay attempt=1 cause=timeout delay_s=0.5
        event 1 differs:
        -    0.000000002  run-1/call-1       tool.retry            tool=pay attempt=2 cause=timeout delay_s=0.5
        -    0.000000003  run-1/call-1       tool.retry            tool=pay attempt=3 cause=timeout delay_s=0.5
        + the trace ends here
        from there on:
        ┌────────────┬───┬───┐
        │ events     ┆ A ┆ B │
        ╞════════════╪═══╪═══╡
        │ tool.retry ┆ 2 ┆ 0 │
        │ all        ┆ 2 ┆ 0 │
        └────────────┴───┴───┘
        ");
        assert_eq!(written(Some(80)), written(None));
    }
}
