//! What the other side should not say.

use serde_json::{Value, json};
use windtunnel_core::durable::remote::RemoteStore;
use windtunnel_core::durable::{Commit, Fence, JournalStore, MemoryStore};

use super::talk::record;
use super::wire::{frame, hello, request, response, scripted, source, told};
use crate::durable::stage::env;

/// Says how a server ends, and its last answer.
async fn ends(bytes: &[u8]) -> (String, String) {
    let (mut answers, end) = told(MemoryStore::new(env()), bytes).await;
    let end = match end {
        Ok(()) => "well".to_owned(),
        Err(error) => match std::error::Error::source(&error) {
            Some(cause) => cause.to_string(),
            None => error.to_string(),
        },
    };
    (end, answers.pop().unwrap_or_default())
}

fn refused(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn a_server_refuses_what_is_no_request() {
    let after_hello = async |text: &str| ends(&[hello(), frame(text)].concat()).await;
    let not_json = (
        "a message is not JSON within the bounds".to_owned(),
        refused("null", -32_700, "the text is not JSON within the bounds"),
    );
    for text in ["", "{", "nul", &"[".repeat(100_000), r#"{"a":1,"a":1}"#] {
        assert_eq!(after_hello(text).await, not_json, "{text:.20}");
    }
    let not_request = (
        "a message is not one of JSON-RPC 2.0 from the side that it came from".to_owned(),
        refused("null", -32_600, "the value is no request, or its identifier is in flight"),
    );
    for text in ["1", "[]", "{}", r#"{"jsonrpc":"2.0","method":"read","params":{}}"#] {
        assert_eq!(after_hello(text).await, not_request, "{text}");
    }
    let unknown = refused("7", -32_601, "the method is unknown");
    assert_eq!(ends(&[hello(), request(7, "drop", json!({}))].concat()).await, ("well".to_owned(), unknown));
    let invalid = refused("7", -32_602, "the parameters are not those of the method, or could not be stored");
    let secret = json!({"workflow_id": ["hunter2"]});
    assert_eq!(ends(&[hello(), request(7, "read", secret)].concat()).await, ("well".to_owned(), invalid));
}

#[tokio::test(start_paused = true)]
async fn a_server_refuses_damaged_frames() {
    let mut changed = hello();
    changed[20] ^= 1;
    let damaged = "a frame was damaged on its way: its checksum is another one";
    assert_eq!(ends(&changed).await, (damaged.to_owned(), String::new()));
    assert_eq!(ends(&frame(b"\xff\xff")).await.0, "a frame is not UTF-8");
    assert_eq!(ends(&hello()[..20]).await.0, "the stream ended in the middle of a frame");
    let endless = ends(&[0x7f; 100_000]).await.0;
    assert!(endless.starts_with("a frame of 2139062143 bytes is longer"), "{endless}");
    assert_eq!(ends(b"").await, ("well".to_owned(), String::new()));
}

#[tokio::test(start_paused = true)]
async fn hello_comes_first_and_once_and_with_a_version_that_is_known() {
    let message = "the first request of a stream is hello, and no later one is";
    let misplaced = (message.to_owned(), refused("7", -32_002, message));
    let ids = request(7, "workflow_ids", json!({"from": 0}));
    assert_eq!(ends(&ids).await, misplaced);
    assert_eq!(ends(&request(7, "drop", json!({}))).await, misplaced);
    let again = request(7, "hello", json!({"version": 1}));
    assert_eq!(ends(&[hello(), again].concat()).await, misplaced);
    let newer = request(7, "hello", json!({"version": 2}));
    let unknown = "the other side speaks another version of the protocol than 1";
    let answer = refused("7", -32_001, "the version of the protocol is unknown; this is version 1");
    assert_eq!(ends(&[newer, ids.clone()].concat()).await, (unknown.to_owned(), answer));
    let (_, answer) = ends(&[hello(), ids].concat()).await;
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":7,"result":{"workflow_ids":[],"has_more":false}}"#);
}

/// Why a client does not believe the answer to a read and a commit, made in this order.
async fn disbelief(answer: impl Fn(&Value) -> Vec<u8>) -> String {
    let talk = |remote: RemoteStore| async move {
        let error = remote.read("w").await.unwrap_err();
        let fence = Fence { workflow_id: "w".into(), activation_id: "a".into(), attempt: 1 };
        assert_eq!(remote.commit_record(&fence, record("a", json!(1))).await, Commit::Unknown);
        let cause = std::error::Error::source(std::error::Error::source(&error).unwrap());
        cause.map_or_else(|| source(&error), ToString::to_string)
    };
    let script = |request: Value| match request["method"].as_str() {
        Some("hello") => Some(response(&request["id"], &json!({"version": 1}))),
        _ => Some(answer(&request)),
    };
    scripted(talk, script).await
}

#[tokio::test(start_paused = true)]
async fn a_client_believes_no_wrong_answer() {
    let unintelligible = "the server's answer is not one to this call";
    for result in [json!("new"), json!([]), json!({"refused": "bored"}), json!({"workflow_ids": [], "has_more": false})]
    {
        assert_eq!(disbelief(|request| response(&request["id"], &result)).await, unintelligible, "{result}");
    }
    let unknown = "a response came for a request that was not made, or for the second time";
    for id in [json!(0), json!(99), json!(u64::MAX)] {
        assert_eq!(disbelief(|_| response(&id, &json!("acknowledged"))).await, unknown, "{id}");
    }
    let no_message = "a message is not one of JSON-RPC 2.0 from the side that it came from";
    for text in ["1", "{}", r#"{"jsonrpc":"2.0","id":"1","result":"acknowledged"}"#] {
        assert_eq!(disbelief(|_| frame(text)).await, no_message, "{text}");
    }
    assert_eq!(disbelief(|request| frame(request.to_string())).await, no_message);
    assert_eq!(disbelief(|_| frame("[".repeat(100_000))).await, "a message is not JSON within the bounds");
    assert_eq!(disbelief(|_| frame(b"\xff")).await, "a frame is not UTF-8");
    let too_long = disbelief(|_| vec![0xff; 60_000]).await;
    assert!(too_long.starts_with("a frame of 4294967295 bytes is longer"), "{too_long}");
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"hunter2"}}"#;
    let message = "the server answered with error -32700: the text is not JSON within the bounds";
    assert_eq!(disbelief(|_| frame(refused)).await, message);
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_the_second_time_ends_the_stream() {
    let mut streams = 0;
    let talk = |remote: RemoteStore| async move {
        let fence = Fence { workflow_id: "w".into(), activation_id: "a".into(), attempt: 1 };
        for _ in 0..3 {
            assert_eq!(remote.extend(&fence, env().now()).await, Commit::Acknowledged);
        }
        // The second answer is found before anything else is sent.
        assert!(remote.read("w").await.unwrap().is_none());
    };
    let script = |request: Value| match request["method"].as_str() {
        Some("hello") => {
            streams += 1;
            Some(response(&request["id"], &json!({"version": 1})))
        }
        Some("read") => Some(response(&request["id"], &Value::Null)),
        _ => Some(response(&request["id"], &json!("acknowledged")).repeat(2)),
    };
    scripted(talk, script).await;
    assert_eq!(streams, 4);
}

#[tokio::test(start_paused = true)]
async fn a_client_gives_up_on_a_server_of_another_version() {
    let refused = frame(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32001,"message":"only 7"}}"#);
    for answer in [refused, response(&json!(0), &json!({"version": 2})), response(&json!(0), &Value::Null)] {
        let mut others = 0;
        let script = |request: Value| {
            others += usize::from(request["method"] != "hello");
            Some(answer.clone())
        };
        let error = scripted(|remote| async move { remote.read("w").await }, script).await.unwrap_err();
        assert_eq!(source(&error), "the other side speaks another version of the protocol than 1");
        assert_eq!(others, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_make_no_history_are_refused() {
    let activation = |decision: Value| {
        json!({"activation_id": "a", "checkpoint": {"entry": "e", "state": 1}, "wake": "started", "attempts": 1,
            "failures": 0, "records": [], "decision": decision})
    };
    let decided = activation(json!([{"continue": {"entry": "e", "state": 1}}, 1]));
    let page = |workflow_id: &str, activations: &[&Value], has_more: bool| json!({"workflow_id": workflow_id, "workflow": "t", "activations": activations, "has_more": has_more});
    let open = activation(Value::Null);
    let unintelligible = "the server's answer is not one to this call";
    let pages = [
        page("w", &[], true),
        page("x", &[&decided], false),
        page("w", &[&open], true),
        page("w", &[&open, &decided], false),
    ];
    for page in pages {
        assert_eq!(disbelief(|request| response(&request["id"], &page)).await, unintelligible, "{page}");
    }
    // Without end.
    let endless = disbelief(|request| response(&request["id"], &page("w", &[&decided], true))).await;
    assert_eq!(endless, "what is to be read has more than the 256 pages allowed");
    let stops = |request: &Value| match request["params"]["from"].as_u64() {
        Some(0) => response(&request["id"], &page("w", &[&decided], true)),
        _ => response(&request["id"], &Value::Null),
    };
    assert_eq!(disbelief(stops).await, unintelligible);
}
