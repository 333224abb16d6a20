//! Any depth on a small stack (V9), and no input that takes the square of its size.

use super::document::Document;
use super::{NodeId, Program, ProgramError};
use crate::json::Bounds;

const LEVELS: usize = 1_000_000;
const BOUNDS: Bounds = Bounds { bytes_max: 256 * 1024 * 1024, ..Program::BOUNDS };

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(test).unwrap().join().unwrap();
}

fn nested(open: &str, inside: &str, close: &str, levels: usize) -> String {
    [&*open.repeat(levels), inside, &close.repeat(levels)].concat()
}

/// Reads, writes, shows, compares and drops a program.
#[track_caller]
fn check(program: &str) {
    let program = Program::parse(program, BOUNDS).unwrap();
    let text = program.to_json();
    assert!(Program::parse(&text, BOUNDS).unwrap() == program);
    assert!(program.outline().to_string().len() < 3 * text.len());
    let deepest = NodeId(u32::try_from(program.node_count() - 1).unwrap());
    assert!(program.path_of(deepest).to_string().len() < 2000);
}

fn version_1(body: &str) -> String {
    format!(r#"{{"mode":"single","body":[{body}]}}"#)
}

fn version_2(body: &str) -> String {
    format!(r#"{{"schema_version":"2.0","body":[{body}]}}"#)
}

const NULL: &str = r#"{"type":"literal","value":null}"#;

#[test]
fn a_million_functions_need_no_deep_stack() {
    on_a_small_stack(|| check(&version_1(&nested(r#"{"type":"function","name":"f","params":["#, "", "]}", LEVELS))));
}

#[test]
fn nested_lambdas_need_no_deep_stack() {
    on_a_small_stack(|| {
        // Every accumulator is the same innermost value.
        let open = r#"{"type":"reduce","iterable":{"type":"value","name":"v","value":[1]},"function":{"params":["a","x"],
            "body":{"name":"f","params":[{"type":"value","name":"x","value":0},{"type":"value","name":"a","value":0},"#;
        let close = "]}}}";
        let inside = r#"{"type":"value","name":"a","value":1}"#;
        check(&version_1(&nested(open, inside, close, LEVELS / 30)));
    });
}

#[test]
fn nested_programs_need_no_deep_stack() {
    let open = r#"{"type":"program","mode":"single","body":["#;
    on_a_small_stack(move || check(&version_1(&nested(open, "", "]}", LEVELS / 20))));
}

#[test]
fn nested_expressions_need_no_deep_stack() {
    on_a_small_stack(|| {
        let conditional = format!(r#"{{"type":"conditional","condition":{NULL},"true_branch":{NULL},"false_branch":"#);
        check(&version_2(&nested(&conditional, NULL, "}", LEVELS / 20)));
        check(&version_2(&nested(r#"{"type":"tool_call","tool":"f","arguments":{"a":"#, NULL, "}}", LEVELS / 20)));
        let mut memos: String =
            (0..LEVELS / 20).map(|key| format!(r#"{{"type":"memo","key":"k{key}","expression":"#)).collect();
        memos.push_str(NULL);
        memos.push_str(&"}".repeat(LEVELS / 20));
        // Twice, so that expressions are compared.
        check(&version_2(&[&*memos, ",", &memos].concat()));
    });
}

#[test]
fn a_million_levels_that_are_no_program_are_refused_in_short() {
    on_a_small_stack(|| {
        let inside = r#"{"type":"function","name":"","params":7,"extra":null}"#;
        let text = version_1(&nested(r#"{"type":"function","name":"f","params":["#, inside, "]}", LEVELS));
        let refusal = Program::parse(&text, BOUNDS).unwrap_err();
        assert_eq!(refusal.offences().len(), 3);
        assert!(refusal.to_string().contains("segments left out>"));
        assert!(refusal.to_string().len() < 2000);
        for (open, close) in [("[", ""), ("{\"a\":", ""), ("[", "}"), ("{\"type\":\"value\",\"value\":", "}")] {
            let refusal = Program::parse(&nested(open, "1", close, LEVELS / 20), BOUNDS).unwrap_err();
            assert!(refusal.to_string().len() < 2000, "{refusal}");
        }
    });
}

#[test]
fn a_deep_value_in_memory_is_read_without_a_deep_stack() {
    let mut value = serde_json::json!({"type": "function", "name": "f", "params": []});
    for _ in 0..50_000 {
        let mut outer = serde_json::json!({"type": "function", "name": "f"});
        outer["params"] = serde_json::Value::Array(vec![value]);
        value = outer;
    }
    let program = serde_json::json!({"mode": "single"});
    let mut program = program;
    program["body"] = serde_json::Value::Array(vec![value]);
    let (sender, receiver) = std::sync::mpsc::channel();
    on_a_small_stack(move || {
        assert_eq!(Program::from_value(&program).unwrap().node_count(), 50_002);
        assert!(Document::from_value(&program).is_some());
        sender.send(program).unwrap();
    });
    // serde_json drops recursively: take it apart from the outside.
    let mut value = receiver.recv().unwrap();
    let mut field = "body";
    while let Some(serde_json::Value::Array(mut inner)) = value.as_object_mut().and_then(|node| node.remove(field)) {
        value = inner.pop().unwrap_or_default();
        field = "params";
    }
}

#[test]
fn wide_programs_take_no_square_of_their_size() {
    let count = 30_000;
    let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let refused = |text: &str| {
        let ProgramError::Invalid(offences) = Program::parse(text, BOUNDS).unwrap_err() else { panic!() };
        assert_eq!(offences.len(), 101);
        let last = offences.last().unwrap().to_string();
        assert!(last.starts_with("$: and ") && last.ends_with(" more offences; repair these first"), "{last}");
    };
    // Members of one object, unknown ones, the last of them a known one twice.
    let members = list(&|index| format!("\"m{index}\":1"));
    refused(&format!("{{{members}}}"));
    let twice = Program::parse(&format!("{{{members},\"m5\":1}}"), BOUNDS).unwrap_err();
    assert!(twice.to_string().ends_with("$.m5: this member is given twice"), "{twice}");
    // Parameters of one lambda, none of them referenced; then all of them.
    let params = list(&|index| format!("\"p{index}\""));
    let value = r#"{"type":"value","name":"v","value":[]}"#;
    let map = |body: &str| {
        let body = format!(r#"{{"name":"f","params":[{body}]}}"#);
        let lambda = format!(r#"{{"params":[{params}],"body":{body}}}"#);
        version_1(&format!(r#"{{"type":"map","iterable":{value},"function":{lambda}}}"#))
    };
    refused(&map(value));
    let referenced = list(&|index| format!(r#"{{"type":"value","name":"p{index}","value":0}}"#));
    assert_eq!(Program::parse(&map(&referenced), BOUNDS).unwrap_err().offences().len(), 1);
    // Calls of functions that do not exist, beside many that do; and many memos with two expressions.
    let definitions = list(&|index| format!(r#"{{"name":"f{index}","body":{NULL}}}"#));
    let calls = list(&|index| format!(r#"{{"type":"call","function":"g{index}"}}"#));
    refused(&format!(r#"{{"schema_version":"2.0","definitions":[{definitions}],"body":[{calls}]}}"#));
    let memo = |index: usize| {
        format!(r#"{{"type":"memo","key":"k","expression":{{"type":"literal","value":{}}}}}"#, index % 2)
    };
    refused(&version_2(&list(&memo)));
    check(&version_2(&list(&|index| memo(index * 2))));
}
