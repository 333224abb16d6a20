//! Which event of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windtunnel_core::event::Event;

/// Which event of a run, counted among those that match.
///
/// ```
/// use windtunnel_sim::EventPattern;
///
/// let second_commit = EventPattern::named("operation.commit").on_host("worker-1").nth(2);
/// let any = EventPattern::any().nth(17);
/// assert_ne!(second_commit, any);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventPattern {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default = "first", skip_serializing_if = "is_first")]
    nth: u64,
}

/// How often each kind of event has come, on each host and on any.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    seen: BTreeMap<(&'static str, Option<Arc<str>>), u64>,
}

impl Occurrences {
    /// The event's place among those that [`EventPattern::of`] it would match.
    pub(crate) fn count(&mut self, event: &Event) -> u64 {
        let anywhere = self.seen.entry((event.kind.name(), None)).or_default();
        *anywhere += 1;
        let nth = *anywhere;
        if event.host.is_none() {
            return nth;
        }
        let there = self.seen.entry((event.kind.name(), event.host.clone())).or_default();
        *there += 1;
        *there
    }
}

fn first() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_first(nth: &u64) -> bool {
    *nth == 1
}

impl EventPattern {
    /// The first event.
    pub fn any() -> Self {
        Self { event: None, host: None, tool: None, key: None, nth: 1 }
    }

    /// The first event of this name, such as `operation.executed`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { event: Some(name.into()), ..Self::any() }
    }

    /// The `nth` event of the name and the host of this one.
    pub(crate) fn of(event: &Event, nth: u64) -> Self {
        let host = event.host.as_ref().map(ToString::to_string);
        Self { host, ..Self::named(event.kind.name()) }.nth(nth)
    }

    /// Only events of this host.
    #[must_use]
    pub fn on_host(self, host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// Only events that are about this tool.
    #[must_use]
    pub fn of_tool(self, tool: impl Into<String>) -> Self {
        Self { tool: Some(tool.into()), ..self }
    }

    /// Only events that are about this key: of an operation, or the idempotency key of an effect.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The `nth` of them, from 1; 0 is none.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        Self { nth, ..self }
    }

    /// The first events that match before this one, from the first on, as many as `count` at the most: where a fault may come
    /// in a smaller run.
    ///
    /// ```
    /// use windtunnel_sim::EventPattern;
    ///
    /// let commit = EventPattern::named("operation.commit");
    /// let earlier: Vec<_> = commit.clone().nth(3).earlier(40).collect();
    /// assert_eq!(earlier, [commit.clone(), commit.nth(2)]);
    /// ```
    pub fn earlier(&self, count: u64) -> impl Iterator<Item = Self> + use<> {
        let pattern = self.clone();
        (1..self.nth.min(count + 1)).map(move |nth| pattern.clone().nth(nth))
    }

    /// The name of the events, if it says one.
    #[cfg(feature = "case")]
    pub(crate) fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// The host of the events, if it says one.
    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Whether no event is the one.
    pub(super) fn is_never(&self) -> bool {
        self.nth == 0
    }

    /// Whether the event is one of those that are counted.
    pub(crate) fn matches(&self, event: &Event) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        is(&self.event, Some(event.kind.name()))
            && is(&self.host, event.host.as_deref())
            && is(&self.tool, event.kind.tool().map(|tool| &**tool))
            && is(&self.key, event.kind.key().map(|key| &**key))
    }

    /// Counts the event if it matches; says whether it is the one.
    pub(crate) fn count(&self, seen: &mut u64, event: &Event) -> bool {
        if !self.matches(event) {
            return false;
        }
        *seen += 1;
        *seen == self.nth
    }
}
