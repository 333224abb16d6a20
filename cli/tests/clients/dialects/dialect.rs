//! A dialect, and what can be said in it.

use serde_json::{Value, json};

use super::{chat, messages, responses};

/// A dialect of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Chat,
    Responses,
    Messages,
}

/// What a model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn<'a> {
    Text(&'a str),
    /// It wants to know the weather.
    Call,
}

/// The tool that models call, and what with.
pub(crate) const TOOL: &str = "get_weather";
pub(crate) const ARGUMENTS: &str = "{\"city\":\"Zürich\"}";

impl Dialect {
    /// The dialect that is spoken at this path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Messages),
            _ => None,
        }
    }

    /// A turn as one document.
    pub(crate) fn whole(self, turn: Turn<'_>) -> Value {
        match self {
            Self::Chat => chat::whole(turn),
            Self::Responses => responses::whole(turn),
            Self::Messages => messages::whole(turn),
        }
    }

    /// A turn as a stream of events.
    pub(crate) fn events(self, turn: Turn<'_>) -> Vec<String> {
        match self {
            Self::Chat => chat::events(turn),
            Self::Responses => responses::events(turn),
            Self::Messages => messages::events(turn),
        }
    }

    /// A refusal.
    pub(crate) fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
            }
            Self::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        }
    }

    /// A refusal in the middle of a stream.
    pub(crate) fn error_event(self) -> String {
        let message = "the model stumbled";
        match self {
            Self::Chat => format!("data: {}\n\n", self.error("server_error", message)),
            Self::Responses => responses::error_event(message),
            Self::Messages => format!("event: error\ndata: {}\n\n", self.error("overloaded_error", message)),
        }
    }
}
