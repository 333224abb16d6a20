//! When calls that wait for each other begin and end (E10).

use std::collections::VecDeque;
use std::time::Duration;

use crate::cases::{QueueCase, QueuedCall};

/// A small simulation of one run's lock and caps, first come, first served: in the lock's queue by arrival, in the queue
/// for a cap by who got the lock first. It does not matter in which order things happen within one instant.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
/// use windtunnel_proptests::cases::{QueueCase, QueuedCall};
/// use windtunnel_proptests::models::QueuePrediction;
///
/// let second = Duration::from_secs(1);
/// let call = |is_exclusive| QueuedCall {
///     arrives: Duration::ZERO, runs_for: second, kind: "search".to_owned(), is_exclusive,
/// };
/// // The last call could share with the first, but may not overtake the one in the middle.
/// let case = QueueCase { caps: BTreeMap::new(), calls: vec![call(false), call(true), call(false)] };
/// let starts: Vec<_> = QueuePrediction::of(&case).turns.iter().map(|turn| turn.starts).collect();
/// assert_eq!(starts, [Duration::ZERO, second, 2 * second]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePrediction {
    /// The turn of each call.
    pub turns: Vec<Turn>,
}

/// When one call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When it has its share of the lock and of the cap.
    pub starts: Duration,
    /// When it gives them back.
    pub finishes: Duration,
}

/// Where a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    OnItsWay,
    WaitsForLock,
    /// It has its share of the lock.
    WaitsForCap,
    Runs,
    IsDone,
}

struct Simulation<'a> {
    case: &'a QueueCase,
    now: Duration,
    places: Vec<Place>,
    turns: Vec<Turn>,
    lock_queue: VecDeque<usize>,
    cap_queue: VecDeque<usize>,
}

impl QueuePrediction {
    /// Plays the case through.
    pub fn of(case: &QueueCase) -> Self {
        let never = Turn { starts: Duration::MAX, finishes: Duration::MAX };
        let mut simulation = Simulation {
            case,
            now: Duration::ZERO,
            places: vec![Place::OnItsWay; case.calls.len()],
            turns: vec![never; case.calls.len()],
            lock_queue: VecDeque::new(),
            cap_queue: VecDeque::new(),
        };
        while let Some(now) = simulation.next_instant() {
            simulation.now = now;
            simulation.play_instant();
        }
        Self { turns: simulation.turns }
    }
}

impl Simulation<'_> {
    fn next_instant(&self) -> Option<Duration> {
        let instants = self.places.iter().zip(&self.case.calls).zip(&self.turns);
        instants
            .filter_map(|((place, call), turn)| match place {
                Place::OnItsWay => Some(call.arrives),
                Place::Runs => Some(turn.finishes),
                _ => None,
            })
            .min()
    }

    /// Finishes and admits until nothing more happens at this instant.
    fn play_instant(&mut self) {
        for index in 0..self.places.len() {
            if self.places[index] == Place::OnItsWay && self.case.calls[index].arrives == self.now {
                self.places[index] = Place::WaitsForLock;
                self.lock_queue.push_back(index);
            }
        }
        self.finish();
        while self.admit() {
            self.finish();
        }
    }

    /// Lets in whoever may enter, in order. Whether anybody did.
    fn admit(&mut self) -> bool {
        let mut has_admitted = false;
        while let Some(head) = self.lock_queue.front().copied() {
            if !self.lock_is_free_for(head) {
                break;
            }
            self.lock_queue.pop_front();
            self.places[head] = Place::WaitsForCap;
            self.cap_queue.push_back(head);
            has_admitted = true;
        }
        for index in std::mem::take(&mut self.cap_queue) {
            // All kinds share this queue: those of one kind are in order, and do not hold up the others.
            if self.cap_is_free_for(index) {
                self.places[index] = Place::Runs;
                let finishes = self.now + self.case.calls[index].runs_for;
                self.turns[index] = Turn { starts: self.now, finishes };
                has_admitted = true;
            } else {
                self.cap_queue.push_back(index);
            }
        }
        has_admitted
    }

    fn finish(&mut self) {
        for index in 0..self.places.len() {
            if self.places[index] == Place::Runs && self.turns[index].finishes == self.now {
                self.places[index] = Place::IsDone;
            }
        }
    }

    fn in_places(&self, wanted: &[Place]) -> impl Iterator<Item = &QueuedCall> {
        let calls = self.places.iter().zip(&self.case.calls);
        calls.filter(|(place, _)| wanted.contains(place)).map(|(_, call)| call)
    }

    fn lock_is_free_for(&self, index: usize) -> bool {
        let mut holders = self.in_places(&[Place::WaitsForCap, Place::Runs]);
        if self.case.calls[index].is_exclusive {
            holders.next().is_none()
        } else {
            holders.all(|call| !call.is_exclusive)
        }
    }

    fn cap_is_free_for(&self, index: usize) -> bool {
        let kind = &self.case.calls[index].kind;
        let running = self.in_places(&[Place::Runs]).filter(|call| call.kind == *kind).count();
        self.case.caps.get(kind).is_none_or(|cap| running < *cap as usize)
    }
}
