//! What a client must have seen, whoever it is.

use serde_json::{Value, json};

use crate::client::Client;
use crate::dialects::{ARGUMENTS, TOOL};
use crate::scene::{AT_ONCE, TEXT, TEXT_AFTER};

/// Holds what was seen of one scene against what the service said.
pub(crate) fn check(client: Client, seen: &Value) {
    let said = |name: &str| seen[name].as_str().unwrap_or_default();
    let error = seen["error"]["text"].as_str();
    let scene = said("scene");
    match scene {
        "plain" | "stream" | "slow stream" | "coded" => {
            assert_eq!((said("text"), error), (TEXT, None), "{seen}");
            assert!(seen["usage"].is_object(), "{seen}");
        }
        "tool" | "tool stream" => {
            assert_eq!((&seen["calls"], error), (&json!([[TOOL, ARGUMENTS]]), None), "{seen}");
            // Those in Rust do not go on after the stream.
            let is_over = client.is_in_rust() && scene == "tool stream";
            assert_eq!(said("text"), if is_over { "" } else { TEXT_AFTER }, "{seen}");
        }
        "limited" | "limited stream" | "broken" | "overloaded" if client.is_patient() => {
            assert_eq!((said("text"), error), (TEXT, None), "{seen}");
            let retries = seen.get("retries").and_then(Value::as_u64);
            assert_eq!(retries.unwrap_or(1), 1, "{seen}");
        }
        "limited" | "limited stream" => assert_told(seen, error, "429"),
        "broken" => assert_told(seen, error, "the server stumbled"),
        "overloaded" => assert_told(seen, error, "Overloaded"),
        "refused" => assert_told(seen, error, "no such model"),
        "failing stream" => {
            assert_told(seen, error, "the model stumbled");
            assert_begun(seen);
        }
        "cut" => assert_told(seen, error, ""),
        "cut stream" => {
            assert_told(seen, error, "");
            assert_begun(seen);
        }
        "parallel" => {
            let texts = (0..AT_ONCE).map(|number| format!("parallel {number}"));
            assert_eq!(seen["texts"], json!(texts.collect::<Vec<_>>()), "{seen}");
        }
        "raw stream" => assert_eq!(seen["events"].as_array().map(Vec::len), Some(11), "{seen}"),
        "models" => assert_eq!(seen["models"], json!(["gpt-5.2"]), "{seen}"),
        _ => assert_eq!((scene, said("file")), ("upload", "file-abc123"), "{seen}"),
    }
}

fn assert_told(seen: &Value, error: Option<&str>, what: &str) {
    assert!(error.is_some_and(|error| error.contains(what)), "no error says {what:?}: {seen}");
}

/// Some of the text came, and not all of it.
fn assert_begun(seen: &Value) {
    let texts = seen["texts"].as_array().unwrap();
    let text: String = texts.iter().map(|text| text.as_str().unwrap()).collect();
    assert!(!text.is_empty() && TEXT.starts_with(&text) && text.len() < TEXT.len(), "{seen}");
}
