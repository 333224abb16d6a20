//! What an evaluation says of itself.

use std::time::Duration;

use serde_json::json;
use windtunnel_core::evaluator::{ExecutionPolicy, ToolFailure};
use windtunnel_core::event::EventLog;

use super::toolbox::{Toolbox, function, parse, retrying, single, value};
use crate::capture::Capture;
use crate::mirror::assert_mirrored;
use crate::rig::ms;

#[tokio::test(start_paused = true)]
async fn every_attempt_is_said_and_none_of_its_values() {
    let toolbox = Toolbox::default().tool("flaky", &["secret"], Duration::ZERO, |_, attempt| {
        if attempt == 1 { Err(ToolFailure::execution("hunter2")) } else { Ok(json!("hunter2")) }
    });
    let log = EventLog::new();
    let policy = ExecutionPolicy { retry: retrying("flaky", 2, ms(500)), ..ExecutionPolicy::default() };
    let evaluator = toolbox.evaluator().sink(log.clone()).policy(policy);
    let program = parse(single(function("flaky", &[value(json!("hunter2"))])));
    let (capture, _guard) = Capture::begin();
    evaluator.evaluate(&program).await.into_value().unwrap();
    assert_mirrored(&capture, &log);
    let events = log.events();
    let lines: Vec<_> = events
        .iter()
        .map(|event| {
            let mut data = event.data();
            data.remove("duration_s");
            format!(
                "{} {} {}",
                event.call_id.as_deref().unwrap_or("-"),
                event.kind.name(),
                serde_json::Value::from(data)
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            r#"program-1 program.started {"program":"","version":"1.0"}"#,
            r#"program-1-1 program.call {"tool":"flaky","path":"$.body[0]","attempt":1}"#,
            r#"program-1-1 program.answer {"tool":"flaky","attempt":1,"status":"error","error":"tool-execution"}"#,
            r#"program-1-1 program.retry {"tool":"flaky","attempt":1,"cause":"tool-execution","delay_s":0.5}"#,
            r#"program-1-1 program.call {"tool":"flaky","path":"$.body[0]","attempt":2}"#,
            r#"program-1-1 program.answer {"tool":"flaky","attempt":2,"status":"ok"}"#,
            r#"program-1 program.finished {"status":"ok","nodes":3,"tool_calls":2}"#,
        ]
    );
    assert!(events.iter().all(|event| event.run_id == events[0].run_id));
    assert!(events[1..6].iter().all(|event| event.parent_id.as_deref() == Some("program-1")));
}
