//! Tools, and calls of them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::edge_json_values;
use crate::cases::{SessionCall, SessionEnding, SessionTool, ToolSession};

/// Names of tools, of which one begins as another, or differs from it in case only.
const NAMES: [&str; 6] = ["search", "search_all", "Search", "pay", "a-b", "x"];
const MESSAGES: [&str; 3] = ["busy", "no such order", "\u{e9} \"quoted\""];

/// Sessions of 1 to 4 tools and 1 to 6 calls.
///
/// Of 100 sessions at least 60 have several tools, 60 a call that returns, 40 one that fails so that another attempt may
/// succeed, 30 one that is refused or rejected, and 15 one that control flow ends.
pub fn tool_sessions() -> impl Strategy<Value = ToolSession> {
    let messages = || select(&MESSAGES[..]).prop_map(str::to_owned);
    sessions(prop_oneof![
        6 => edge_json_values().prop_map(SessionEnding::Value),
        2 => messages().prop_map(|message| SessionEnding::Fails { message }),
        2 => Just(SessionEnding::TimesOut),
        1 => messages().prop_map(|message| SessionEnding::Refused { message }),
        1 => messages().prop_map(|message| SessionEnding::RejectsArguments { message }),
        1 => Just(SessionEnding::Interrupted),
    ])
}

/// The same, where every call returns.
pub fn returning_tool_sessions() -> impl Strategy<Value = ToolSession> {
    sessions(edge_json_values().prop_map(SessionEnding::Value))
}

fn sessions(endings: impl Strategy<Value = SessionEnding>) -> impl Strategy<Value = ToolSession> {
    let owns = select(vec!["query", "n", "\u{e9}", "$own"]);
    let tools = (subsequence(NAMES.to_vec(), 1..=4), owns, select(vec!["", "Does it."])).prop_map(
        |(names, own, description)| {
            let tool = |name: &str| SessionTool {
                name: name.to_owned(),
                description: description.to_owned(),
                own: own.to_owned(),
            };
            names.into_iter().map(tool).collect::<Vec<_>>()
        },
    );
    let call = (0_usize..4, prop::option::of(edge_json_values()), endings, 0_u8..=3)
        .prop_map(|(tool, own, ending, pauses)| SessionCall { tool, own, ending, pauses });
    (tools, vec(call, 1..=6)).prop_map(|(tools, calls)| ToolSession { tools, calls })
}
