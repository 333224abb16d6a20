//! The reviewer, who decides on calls that wait: the events that a loop hears of.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::Delivery;

/// A decision that the file plans.
#[derive(Clone, Debug)]
pub(super) struct PlannedReview {
    pub(super) approval_id: Arc<str>,
    pub(super) when: When,
    /// What the event says.
    pub(super) payload: Value,
}

/// When it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Since the case began.
    At(Duration),
    /// Since the call was first found to wait.
    AfterPending(Duration),
}

/// A decision that was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewDelivery {
    /// The approval, which is the event's key.
    pub approval_id: Arc<str>,
    /// When, since the case began.
    pub time: Duration,
    /// What came of it.
    pub delivery: Delivery,
}

/// The decisions that are still to come. Knows no clock.
#[derive(Debug)]
pub(super) struct Reviews {
    waiting: Vec<(PlannedReview, Option<Duration>)>,
}

impl Reviews {
    pub(super) fn new(planned: impl IntoIterator<Item = PlannedReview>) -> Self {
        let due = |review: &PlannedReview| match review.when {
            When::At(at) => Some(at),
            When::AfterPending(_) => None,
        };
        Self { waiting: planned.into_iter().map(|review| (review.clone(), due(&review))).collect() }
    }

    /// The call waits. That it is found to wait again changes nothing.
    pub(super) fn pending(&mut self, approval_id: &str, now: Duration) {
        for (review, due) in self.waiting.iter_mut().filter(|(review, _)| &*review.approval_id == approval_id) {
            if let When::AfterPending(after) = review.when {
                due.get_or_insert(now.saturating_add(after));
            }
        }
    }

    /// When the next one is due, if any of those that are left is.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.waiting.iter().filter_map(|(_, due)| *due).min()
    }

    /// Takes the first of those that are due: by time, then by their order in the file.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<PlannedReview> {
        let next = self.next_due().filter(|due| *due <= now)?;
        let index = self.waiting.iter().position(|(_, due)| *due == Some(next))?;
        Some(self.waiting.remove(index).0)
    }
}

impl ReviewDelivery {
    /// `accepted`, `already`, `conflict`, `too-late` or `no-workflow`.
    pub fn status(&self) -> &'static str {
        match self.delivery {
            Delivery::Accepted => "accepted",
            Delivery::Already => "already",
            Delivery::Conflict => "conflict",
            Delivery::TooLate => "too-late",
            Delivery::NoWorkflow => "no-workflow",
        }
    }

    /// The delivery as JSON, with the names that case files use.
    pub fn to_json(&self) -> Value {
        json!({
            "approval_id": &*self.approval_id,
            "at_ms": self.time.as_nanos() as f64 / 1e6,
            "delivery": self.status(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_come_by_time_and_only_after_what_they_are_about() {
        let review = |id: &str, when| PlannedReview { approval_id: id.into(), when, payload: Value::Null };
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let mut reviews = Reviews::new([
            review("a", When::AfterPending(second)),
            review("b", When::At(minute)),
            review("c", When::AfterPending(second)),
        ]);
        assert_eq!(reviews.next_due(), Some(minute));
        reviews.pending("a", second);
        reviews.pending("a", minute);
        assert_eq!(reviews.next_due(), Some(second * 2));
        assert!(reviews.take_due(second).is_none());
        let taken: Vec<_> = std::iter::from_fn(|| reviews.take_due(minute)).map(|review| review.approval_id).collect();
        assert_eq!(taken, ["a".into(), Arc::<str>::from("b")]);
        assert_eq!(reviews.next_due(), None);
    }
}
