//! What a client saw.

use std::fmt::Display;
use std::future::Future;

use serde_json::{Value, json};

pub const TOOL: &str = "get_weather";
pub const DESCRIPTION: &str = "The weather of a city, now";
pub const RESULT: &str = "{\"celsius\": 11, \"rain\": true}";

/// The scenes of every client. Others are played only if they are named.
pub const SCENES: [&str; 15] = [
    "plain",
    "stream",
    "tool",
    "tool stream",
    "limited",
    "limited stream",
    "broken",
    "overloaded",
    "refused",
    "coded",
    "failing stream",
    "cut",
    "cut stream",
    "slow stream",
    "parallel",
];

/// What was seen of one scene.
#[derive(Debug, Default)]
pub struct Seen {
    /// The pieces of the text.
    pub texts: Vec<String>,
    /// Names and arguments of calls.
    pub calls: Vec<(String, String)>,
    pub usage: Option<Value>,
}

/// The schema of the tool's arguments.
pub fn parameters() -> Value {
    json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false
    })
}

/// Plays the scenes that are wanted: all, if none is named. `ask` is given the scene, the prompt, and what is seen so far.
pub async fn play<E: Display>(api: &str, wanted: &[String], ask: impl AsyncFn(&str, &str, &mut Seen) -> Result<(), E>) {
    let unknown = ["unknown", "unknown stream"];
    let is_unknown = |scene: &&str| unknown.contains(scene);
    for scene in SCENES.into_iter().chain(unknown) {
        if wanted.is_empty() && is_unknown(&scene) || !wanted.is_empty() && !wanted.iter().any(|name| name == scene) {
            continue;
        }
        let mut seen = Seen::default();
        let outcome = ask(scene, &format!("scene: {scene}"), &mut seen).await;
        let Seen { texts, calls, usage } = seen;
        let error = outcome.err().map(|error| json!({"text": error.to_string()}));
        let text = texts.concat();
        println!(
            "{}",
            json!({"api": api, "scene": scene, "text": text, "texts": texts, "calls": calls, "usage": usage, "error": error})
        );
    }
}

/// Asks eight times at once.
pub async fn at_once<E, F: Future<Output = Result<String, E>>>(
    prompt: &str,
    seen: &mut Seen,
    ask: impl Fn(String) -> F,
) -> Result<(), E> {
    seen.texts = futures::future::try_join_all((0..8).map(|number| ask(format!("{prompt} {number}")))).await?;
    Ok(())
}
