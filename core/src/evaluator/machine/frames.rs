//! The frames of one evaluation, linked into a tree, so that a part of it can be cancelled.

use slab::Slab;

use super::frame::{Frame, FrameId};

const NONE: u32 = u32::MAX;

/// Frames by id. A frame's children are the evaluations that it waits for.
#[derive(Debug, Default)]
pub(super) struct Frames {
    slab: Slab<Entry>,
    born: u32,
}

#[derive(Debug)]
struct Entry {
    parent: u32,
    first_child: u32,
    previous: u32,
    next: u32,
    born: u32,
    /// The round of its last turn.
    turn: u32,
    frame: Frame,
}

impl Frames {
    /// Adds a frame, as the first child of `parent`.
    pub(super) fn add(&mut self, parent: Option<FrameId>, frame: Frame) -> FrameId {
        let parent = parent.map_or(NONE, |parent| parent.place);
        let next = if parent == NONE { NONE } else { self.slab[parent as usize].first_child };
        self.born = self.born.wrapping_add(1);
        let born = self.born;
        let entry = Entry { parent, first_child: NONE, previous: NONE, next, born, turn: 0, frame };
        // Memory ends long before 4 billion frames.
        let place = self.slab.insert(entry) as u32;
        if next != NONE {
            self.slab[next as usize].previous = place;
        }
        if parent != NONE {
            self.slab[parent as usize].first_child = place;
        }
        FrameId { place, born }
    }

    /// Takes out a frame that has no children, and says whose child it was.
    pub(super) fn remove(&mut self, id: FrameId) -> (Frame, Option<FrameId>) {
        let Entry { parent, previous, next, frame, .. } = self.slab.remove(id.place as usize);
        if next != NONE {
            self.slab[next as usize].previous = previous;
        }
        if previous != NONE {
            self.slab[previous as usize].next = next;
        } else if parent != NONE {
            self.slab[parent as usize].first_child = next;
        }
        (frame, self.at(parent))
    }

    pub(super) fn get(&self, id: FrameId) -> &Frame {
        &self.entry(id).frame
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        &mut self.entry_mut(id).frame
    }

    pub(super) fn contains(&self, id: FrameId) -> bool {
        self.slab.get(id.place as usize).is_some_and(|entry| entry.born == id.born)
    }

    pub(super) fn parent(&self, id: FrameId) -> Option<FrameId> {
        self.at(self.entry(id).parent)
    }

    /// The child that was added last.
    pub(super) fn first_child(&self, id: FrameId) -> Option<FrameId> {
        self.at(self.entry(id).first_child)
    }

    /// The frame and everything that it is a part of, from the inside.
    pub(super) fn ancestors(&self, id: FrameId) -> impl Iterator<Item = FrameId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    pub(super) fn set_turn(&mut self, id: FrameId, round: u64) {
        self.entry_mut(id).turn = round as u32;
    }

    /// How many rounds after `round` the frame's last turn is, if it is still to come.
    pub(super) fn rounds_to_turn(&self, id: FrameId, round: u64) -> Option<u64> {
        let rounds = self.entry(id).turn.wrapping_sub(round as u32);
        (rounds < u32::MAX / 2).then_some(rounds.into())
    }

    fn at(&self, place: u32) -> Option<FrameId> {
        (place != NONE).then(|| FrameId { place, born: self.slab[place as usize].born })
    }

    fn entry(&self, id: FrameId) -> &Entry {
        &self.slab[id.place as usize]
    }

    fn entry_mut(&mut self, id: FrameId) -> &mut Entry {
        &mut self.slab[id.place as usize]
    }
}
