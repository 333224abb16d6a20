//! What was logged.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A `tracing` subscriber that keeps the text of every span and record at every level. Clones share it.
///
/// ```
/// use windtunnel_proptests::LogCapture;
///
/// let capture = LogCapture::new();
/// tracing::subscriber::with_default(capture.clone(), || tracing::warn!(tool = "search", "it failed"));
/// let [line] = &capture.lines()[..] else { panic!("one line") };
/// assert_eq!((line.level, &*line.text), (tracing::Level::WARN, "message=it failed tool=\"search\""));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogCapture {
    lines: Arc<Mutex<Vec<LogLine>>>,
}

/// One span or record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its level. `Level::DEBUG > Level::INFO`: a greater level tells more.
    pub level: Level,
    /// Its fields and message.
    pub text: String,
}

impl LogCapture {
    /// An empty capture.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines so far, in order.
    pub fn lines(&self) -> Vec<LogLine> {
        self.lines.lock().clone()
    }

    fn keep(&self, level: Level, record: impl FnOnce(&mut Text)) {
        let mut text = Text::default();
        record(&mut text);
        self.lines.lock().push(LogLine { level, text: text.0 });
    }
}

impl Subscriber for LogCapture {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.keep(*attributes.metadata().level(), |text| attributes.record(text));
        // All spans may share an id: nothing asks for one again.
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        // Fields that come later count as the most visible kind.
        self.keep(Level::ERROR, |text| values.record(text));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.keep(*event.metadata().level(), |text| event.record(text));
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let separator = if self.0.is_empty() { "" } else { " " };
        self.0.push_str(&format!("{separator}{}={value:?}", field.name()));
    }
}
