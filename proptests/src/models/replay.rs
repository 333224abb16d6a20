//! What a replay answers.

use crate::cases::{ReplayCall, ReplayOrder, ReplaySession};

/// The entries of a recording, and which of them were given out. It is told every call, and says which entry answers it.
///
/// ```
/// use serde_json::json;
/// use windtunnel_proptests::cases::{RecordedCall, ReplayAnswer, ReplayCall, ReplayOrder, ReplaySession};
/// use windtunnel_proptests::models::ReplayModel;
///
/// let call = ReplayCall { lane: 0, name: "search".to_owned(), arguments: json!({}), is_streamed: false };
/// let recorded = RecordedCall { call: call.clone(), answer: ReplayAnswer::Value(json!(1)), pauses: 0 };
/// let mut model = ReplayModel::new(ReplayOrder::Strict, &ReplaySession { calls: vec![recorded] });
/// assert_eq!(model.left(), 1);
/// assert_eq!([model.ask(&call), model.ask(&call)], [Some(0), None]);
/// assert_eq!((model.left(), model.missed()), (0, 1));
/// ```
#[derive(Clone, Debug)]
pub struct ReplayModel {
    order: ReplayOrder,
    entries: Vec<Entry>,
    missed: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    call: ReplayCall,
    is_given: bool,
}

impl ReplayModel {
    /// A replay of all that was recorded, at its beginning.
    pub fn new(order: ReplayOrder, session: &ReplaySession) -> Self {
        let entries = session.calls.iter().map(|recorded| Entry { call: recorded.call.clone(), is_given: false });
        Self { order, entries: entries.collect(), missed: 0 }
    }

    /// The entry that answers a call; nothing, if it is a miss, which changes nothing.
    pub fn ask(&mut self, call: &ReplayCall) -> Option<usize> {
        let mut of_lane = self.entries.iter_mut().enumerate();
        let found = of_lane.find(|(_, entry)| {
            let is_next = !entry.is_given && entry.call.lane == call.lane;
            is_next && (self.order == ReplayOrder::Strict || entry.call.is(call))
        });
        match found.filter(|(_, entry)| entry.call.is(call)) {
            Some((place, entry)) => {
                entry.is_given = true;
                Some(place)
            }
            None => {
                self.missed += 1;
                None
            }
        }
    }

    /// How many entries were not given out yet.
    pub fn left(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.is_given).count()
    }

    /// How many calls were misses.
    pub fn missed(&self) -> usize {
        self.missed
    }
}
