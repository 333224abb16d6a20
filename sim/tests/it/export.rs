//! Runs in formats of other tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use windtunnel_core::event::{Event, EventKind};
use windtunnel_sim::case::{Case, Format};
use windtunnel_sim::export::{JunitCase, JunitOutcome, JunitSuite, json_lines, junit, otlp, perfetto};

const ON_HOSTS: &str = include_str!("../../../examples/refund_on_hosts.toml");
const IN_MEMORY: &str = include_str!("../../../examples/refund_agent.toml");
const RETRIED: &str = r#"{
    "tools": [{"name": "pay", "parameters": {"to": "string"}, "retries": 1, "timeout_s": 2, "confirm": true,
        "script": [{"fail": "hang"}, {"delay_ms": 120.5}]}],
    "rng": 0.0,
    "approvals": [{"decision": "approve"}, {"decision": "pending"}],
    "calls": [{"name": "pay", "arguments": {"to": "Bob"}}, {"name": "pay", "arguments": {"to": "Eve"}}]
}"#;

fn traces() -> Vec<Vec<Event>> {
    let texts = [(Format::Toml, ON_HOSTS), (Format::Toml, IN_MEMORY), (Format::Json, RETRIED)];
    let cases = texts.into_iter().flat_map(|(format, text)| Case::parse("case", format, text).unwrap());
    cases.flat_map(|case| (0..3).map(move |seed| case.run(seed).trace().to_vec())).collect()
}

fn retried() -> Vec<Event> {
    Case::parse("case", Format::Json, RETRIED).unwrap()[0].run(0).trace().to_vec()
}

/// Nanoseconds of a time of the format, which is in microseconds with three digits after the point.
fn nanos(value: &Value) -> i128 {
    let text = value.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse::<i128>().unwrap() * 1_000 + format!("{rest:0<3}").parse::<i128>().unwrap()
}

#[test]
fn what_perfetto_opens_keeps_the_rules_of_the_trace_event_format() {
    for trace in traces() {
        check_rules(&serde_json::from_str(&perfetto(&trace)).unwrap(), &trace);
    }
}

#[test]
fn what_is_at_once_and_not_inside_each_other_gets_a_thread_of_its_own() {
    let model = || Arc::<str>::from("m");
    let begin = |turn| EventKind::ModelStarted { model: model(), turn };
    let (tool_calls, input_tokens, output_tokens) = (0, 0, 0);
    let end = |turn| EventKind::ModelFinished {
        model: model(),
        turn,
        status: "ok",
        error: None,
        tool_calls,
        input_tokens,
        output_tokens,
    };
    let steps = [begin(1), begin(2), end(1), begin(3), end(2), end(3)];
    let event = |(sequence, kind): (u64, EventKind)| Event {
        sequence,
        at: Duration::from_nanos(sequence),
        host: None,
        run_id: "run-1".into(),
        call_id: None,
        parent_id: None,
        kind,
    };
    let trace: Vec<_> = (0..).zip(steps).map(event).collect();
    let document: Value = serde_json::from_str(&perfetto(&trace)).unwrap();
    check_rules(&document, &trace);
    let slices = document["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let threads: Vec<_> = slices.map(|slice| slice["tid"].as_u64().unwrap()).collect();
    assert!(threads[0] != threads[1] && threads[0] == threads[2], "{threads:?}");
}

/// The rules of the format: every event has a phase, a process and a thread; what lasts has its time and duration, and those
/// of one thread stand inside each other or apart; an arrow has one beginning and one end, each at a slice, and does not go
/// back in time; marks say their scope; every thread and process has a name, and no number stands for two.
fn check_rules(document: &Value, trace: &[Event]) {
    let events = document["traceEvents"].as_array().unwrap();
    let lane = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
    let mut slices: BTreeMap<_, Vec<(i128, i128)>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<(String, i128)>> = BTreeMap::new();
    let mut names = BTreeMap::new();
    let mut marks = 0;
    for event in events {
        match event["ph"].as_str().unwrap() {
            "X" => {
                let (begin, lasted) = (nanos(&event["ts"]), nanos(&event["dur"]));
                assert!(lasted >= 0 && event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
                slices.entry(lane(event)).or_default().push((begin, begin + lasted));
            }
            "i" => {
                assert!(["t", "p", "g"].contains(&event["s"].as_str().unwrap()), "{event}");
                marks += usize::from(event["name"].as_str().unwrap().starts_with("fault: "));
            }
            phase @ ("s" | "f") => {
                assert_eq!(event["bp"].as_str(), (phase == "f").then_some("e"));
                let at = nanos(&event["ts"]);
                assert!(slices[&lane(event)].iter().any(|(begin, end)| (*begin..=*end).contains(&at)), "{event}");
                arrows.entry(event["id"].as_u64().unwrap()).or_default().push((phase.to_owned(), at));
            }
            phase => {
                assert_eq!(phase, "M", "{event}");
                let named = names.insert((event["name"].to_string(), lane(event)), event["args"]["name"].clone());
                assert_eq!(named, None, "{event}");
            }
        }
    }
    for (lane, slices) in slices {
        check_nested(&slices);
        assert!(names.contains_key(&("\"thread_name\"".to_owned(), lane)), "{lane:?} has no name");
        assert!(names.contains_key(&("\"process_name\"".to_owned(), (lane.0, lane.0))), "{lane:?} has no process");
    }
    for arrow in arrows.values() {
        assert!(
            matches!(&arrow[..], [(begin, sent), (end, got)] if begin == "s" && end == "f" && sent <= got),
            "{arrow:?}"
        );
    }
    let faults = trace.iter().filter(|event| event.kind.name() == "fault.delivered").count();
    let sends = trace.iter().filter(|event| event.kind.name() == "network.send").count();
    assert_eq!(marks, faults);
    assert!(arrows.len() <= sends && arrows.len() * 10 >= sends * 8, "{} arrows of {sends} messages", arrows.len());
}

/// In the order of the file, each stands inside the last that is open, or after it.
fn check_nested(slices: &[(i128, i128)]) {
    let mut open: Vec<(i128, i128)> = Vec::new();
    for (begin, end) in slices {
        while open.last().is_some_and(|last| last.1 <= *begin) {
            open.pop();
        }
        assert!(open.last().is_none_or(|last| last.0 <= *begin && *end <= last.1), "{begin} to {end} in {open:?}");
        open.push((*begin, *end));
    }
}

#[test]
fn nothing_of_a_host_outlasts_its_crash() {
    let mut crashes = 0;
    for trace in traces() {
        let document: Value = serde_json::from_str(&perfetto(&trace)).unwrap();
        let events = document["traceEvents"].as_array().unwrap();
        for crash in trace.iter().filter(|event| ["host.crashed", "host.power_cut"].contains(&event.kind.name())) {
            crashes += 1;
            let is_process = |event: &&Value| {
                event["name"] == "process_name" && event["args"]["name"] == *crash.host.as_deref().unwrap()
            };
            let process = &events.iter().find(is_process).unwrap()["pid"];
            let at = i128::try_from(crash.at.as_nanos()).unwrap();
            for slice in events.iter().filter(|event| event["ph"] == "X" && &event["pid"] == process) {
                let (begin, lasted) = (nanos(&slice["ts"]), nanos(&slice["dur"]));
                assert!(begin >= at || begin + lasted <= at, "{slice} outlasts the crash at {at}");
            }
        }
    }
    assert!(crashes > 0, "no host crashed");
}

#[test]
fn a_call_is_a_slice_with_its_attempts_its_pauses_and_its_approval_inside() {
    let document: Value = serde_json::from_str(&perfetto(&retried())).unwrap();
    let shown = document["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let shown: Vec<_> = shown
        .map(|event| format!("{} {} {} + {}", event["tid"], event["name"].as_str().unwrap(), event["ts"], event["dur"]))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    2 run-1 0.0 + 2620500.0
    3 pay 0.0 + 2620500.0
    3 approval 0.0 + 0.0
    3 attempt 1 0.0 + 2000000.0
    3 wait after attempt 1: timeout 2000000.0 + 500000.0
    3 attempt 2 2500000.0 + 120500.0
    4 pay 2620500.0 + 0.0
    4 approval 2620500.0 + 0.0
    ");
}

#[test]
fn spans_of_opentelemetry_have_their_parents_times_and_names() {
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let document: Value = serde_json::from_str(&otlp(&retried(), epoch)).unwrap();
    let spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let name = |id: &Value| {
        let found = spans.iter().find(|span| !id.is_null() && &span["spanId"] == id);
        found.map_or("nothing".to_owned(), |span| span["name"].as_str().unwrap().to_owned())
    };
    let shown = spans.iter().map(|span| {
        let times = format!("{} to {}", span["startTimeUnixNano"], span["endTimeUnixNano"]);
        format!("{} in {}: {times}, {}", span["name"].as_str().unwrap(), name(&span["parentSpanId"]), span["status"])
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    run run-1 in nothing: "1700000000000000000" to "1700000002620500000", {}
    execute_tool pay in run run-1: "1700000000000000000" to "1700000002620500000", {"code":1}
    approval in execute_tool pay: "1700000000000000000" to "1700000000000000000", {}
    attempt 1 in execute_tool pay: "1700000000000000000" to "1700000002000000000", {"code":2}
    wait in execute_tool pay: "1700000002000000000" to "1700000002500000000", {}
    attempt 2 in execute_tool pay: "1700000002500000000" to "1700000002620500000", {"code":1}
    execute_tool pay in run run-1: "1700000002620500000" to "1700000002620500000", {}
    approval in execute_tool pay: "1700000002620500000" to "1700000002620500000", {}
    "#);
    insta::assert_snapshot!(attributes(&spans[1]), @r#"
    cached {"boolValue":false}
    duration_s {"doubleValue":2.6205}
    attempts {"intValue":"2"}
    gen_ai.tool.name {"stringValue":"pay"}
    gen_ai.operation.name {"stringValue":"execute_tool"}
    gen_ai.tool.call.id {"stringValue":"call-1"}
    run_id {"stringValue":"run-1"}
    "#);
    insta::assert_snapshot!(attributes(&spans[3]), @r#"
    delay_s {"doubleValue":0.5}
    attempt {"intValue":"1"}
    gen_ai.tool.name {"stringValue":"pay"}
    error.type {"stringValue":"timeout"}
    run_id {"stringValue":"run-1"}
    "#);
}

fn attributes(span: &Value) -> String {
    let attributes = span["attributes"].as_array().unwrap().iter();
    attributes.map(|attribute| format!("{} {}\n", attribute["key"].as_str().unwrap(), attribute["value"])).collect()
}

#[test]
fn identifiers_of_spans_are_as_long_as_they_must_be_and_lead_to_one_root() {
    for trace in traces() {
        let document: Value = serde_json::from_str(&otlp(&trace, SystemTime::UNIX_EPOCH)).unwrap();
        let resources = document["resourceSpans"].as_array().unwrap();
        let spans = || resources.iter().flat_map(|resource| resource["scopeSpans"][0]["spans"].as_array().unwrap());
        let traces: BTreeMap<_, _> = spans().map(|span| (span["spanId"].as_str().unwrap(), &span["traceId"])).collect();
        assert_eq!(traces.len(), spans().count(), "an identifier stands for two");
        for span in spans() {
            let digits = |name: &str| span[name].as_str().filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
            assert_eq!((digits("traceId").unwrap().len(), digits("spanId").unwrap().len()), (32, 16));
            if let Some(parent) = span["parentSpanId"].as_str() {
                assert_eq!(traces[parent], &span["traceId"], "a parent of another trace");
            }
            let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
            assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
        }
    }
}

#[test]
fn lines_of_json_are_what_the_digest_is_of() {
    let trace = retried();
    let text = json_lines(&trace);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), trace.len());
    assert!(lines.iter().zip(&trace).all(|(line, event)| line == &serde_json::to_value(event).unwrap()));
    assert_eq!(json_lines(&[]), "");
}

#[test]
fn junit_is_xml_whatever_the_texts_hold() {
    let text = "a \u{1b}[31m<b> & \"c\"\nsecond \u{0}\u{fffe} line ]]>\r\t€";
    let case = |name: &str, outcome| JunitCase { name: name.to_owned(), outcome };
    let cases = vec![
        case("good", JunitOutcome::Passed),
        case("<bad>\n\u{7}", JunitOutcome::Failed(text.to_owned())),
        case("wrong", JunitOutcome::Error("cannot be read".to_owned())),
    ];
    let xml =
        junit(&[JunitSuite { name: "a & b".to_owned(), cases }, JunitSuite { name: "none".to_owned(), cases: vec![] }]);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!(["tests", "failures", "errors"].map(|name| root.attribute(name).unwrap()), ["3", "1", "1"]);
    let suites: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(suites.iter().map(|suite| suite.attribute("name").unwrap()).collect::<Vec<_>>(), ["a & b", "none"]);
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    assert_eq!(failure.attribute("message"), Some(r#"a \u{1b}[31m<b> & "c""#));
    assert_eq!(failure.text(), Some("a \\u{1b}[31m<b> & \"c\"\nsecond \\u{0}\\u{fffe} line ]]>\\u{d}\t€"));
    assert_eq!(failure.parent().unwrap().attribute("name"), Some("<bad>\n\\u{7}"));
    assert_eq!(failure.parent().unwrap().attribute("classname"), Some("a & b"));
}
