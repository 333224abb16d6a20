//! What a thread says to `tracing`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Once};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps every span and record of the current thread. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Vec<Entry>>>);

/// A span, or a record with its text as the field `message`.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) level: Level,
    /// The name of a span; records have none worth reading.
    pub(crate) span: Option<&'static str>,
    pub(crate) fields: BTreeMap<String, String>,
}

impl Capture {
    /// Captures until the guard is dropped.
    pub(crate) fn begin() -> (Self, Capturing) {
        static ROUTER: Once = Once::new();
        ROUTER.call_once(|| tracing::subscriber::set_global_default(Router).unwrap());
        let capture = Self::default();
        CURRENT.with_borrow_mut(|current| *current = Some(capture.clone()));
        (capture, Capturing)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.0.lock().clone()
    }

    /// The texts of the records at `level`.
    pub(crate) fn messages(&self, level: Level) -> Vec<String> {
        let wanted = |entry: &&Entry| entry.level == level && entry.span.is_none();
        self.0.lock().iter().filter(wanted).map(|entry| entry.fields["message"].clone()).collect()
    }

    /// The entries that mention `text` anywhere.
    pub(crate) fn mentions(&self, text: &str) -> Vec<Entry> {
        let mentions = |entry: &&Entry| entry.fields.values().any(|value| value.contains(text));
        self.0.lock().iter().filter(mentions).cloned().collect()
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Ends a capture on drop.
#[must_use = "dropping the guard ends the capture"]
pub(crate) struct Capturing;

impl Drop for Capturing {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

/// Hands everything to the capture of the thread it comes from.
///
/// One subscriber for the whole process: `tracing` remembers for each place in the code whether anybody listens, and
/// asks only the thread that comes there first if all subscribers belong to threads.
struct Router;

impl Router {
    fn push(metadata: &Metadata<'_>, fields: Fields) -> Id {
        CURRENT.with_borrow(|current| {
            let Some(Capture(entries)) = current else { return Id::from_u64(1) };
            let span = metadata.is_span().then(|| metadata.name());
            let mut entries = entries.lock();
            entries.push(Entry { level: *metadata.level(), span, fields: fields.0 });
            Id::from_u64(entries.len() as u64)
        })
    }
}

impl Subscriber for Router {
    fn register_callsite(&self, _metadata: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        CURRENT.with_borrow(Option::is_some)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        Self::push(attributes.metadata(), fields)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        Self::push(event.metadata(), fields);
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
