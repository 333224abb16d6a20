//! Every text once.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers texts in the order in which they first come.
#[derive(Default)]
pub(super) struct Interner {
    places: BTreeMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        // A document holds fewer texts than 32 bits can count.
        let place = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.places.insert(Arc::clone(&text), place);
        self.texts.push(text);
        place
    }

    pub(super) fn text(&self, place: u32) -> &Arc<str> {
        &self.texts[place as usize]
    }

    pub(super) fn into_texts(self) -> Vec<Arc<str>> {
        self.texts
    }
}
