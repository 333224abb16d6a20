//! Calls as spans of OpenTelemetry, through `tracing-opentelemetry`: what a production agent sends to its collector.

use std::sync::Arc;

use opentelemetry::trace::{SpanId, TracerProvider as _};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use parking_lot::Mutex;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer, SubscriberExt};

use crate::rig::{Rig, call, echo, tool};

/// An exporter that keeps what a real one would send.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().extend(spans);
        Ok(())
    }
}

const INNER: [&str; 3] = ["tool.started", "tool.attempt", "tool.finished"];

#[tokio::test(start_paused = true)]
async fn a_call_is_a_span_inside_the_one_that_made_it_with_its_events() {
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
    // Other records may hold texts of causes.
    let is_event = filter_fn(|metadata| metadata.target() == "windtunnel::event");
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("agent")).with_filter(is_event);
    let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let outer = tool("outer", |_, context| async move {
        if context.attempt() == 1 {
            return Err("reset by peer".into());
        }
        Ok(context.executor().run_call(call("b", "inner")).await?.into_value()?)
    });
    let rig = Rig::new([outer.retries(1), echo("inner")]);
    rig.executor.run_call(call("a", "outer")).await.unwrap();
    drop(guard);

    let spans = kept.0.lock();
    let [inner, outer] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&*inner.name, &*outer.name), ("execute_tool", "execute_tool"));
    assert_eq!((inner.parent_span_id, outer.parent_span_id), (outer.span_context.span_id(), SpanId::INVALID));
    assert_eq!(inner.span_context.trace_id(), outer.span_context.trace_id());
    assert_eq!(attribute(outer, "gen_ai.operation.name"), Some("execute_tool".to_owned()));
    assert_eq!(attribute(outer, "gen_ai.tool.name"), Some("outer".to_owned()));
    assert_eq!(attribute(inner, "gen_ai.tool.call.id"), Some("b".to_owned()));
    let events: Vec<_> = outer.events.iter().map(|event| &*event.name).collect();
    assert_eq!(events, ["tool.started", "tool.attempt", "tool.retry", "tool.attempt", "tool.finished"]);
    assert_eq!(inner.events.iter().map(|event| &*event.name).collect::<Vec<_>>(), INNER);
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == name).map(|attribute| attribute.value.to_string())
}
