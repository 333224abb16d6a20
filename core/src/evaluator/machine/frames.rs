//! The frames of one evaluation, linked into a tree, so that a part of it can be cancelled.

use slab::Slab;

use super::frame::{Frame, FrameId};

const NONE: u32 = u32::MAX;

/// Frames by id. A frame's children are the evaluations that it waits for.
#[derive(Debug, Default)]
pub(super) struct Frames {
    slab: Slab<Entry>,
}

#[derive(Debug)]
struct Entry {
    parent: u32,
    first_child: u32,
    previous: u32,
    next: u32,
    frame: Frame,
}

impl Frames {
    /// Adds a frame, as the first child of `parent`.
    pub(super) fn add(&mut self, parent: Option<FrameId>, frame: Frame) -> FrameId {
        let parent_id = parent.map_or(NONE, |parent| parent.0);
        let next = parent.map_or(NONE, |parent| self.entry(parent).first_child);
        let entry = Entry { parent: parent_id, first_child: NONE, previous: NONE, next, frame };
        // Memory ends long before 4 billion frames.
        let id = self.slab.insert(entry) as u32;
        if next != NONE {
            self.slab[next as usize].previous = id;
        }
        if parent_id != NONE {
            self.slab[parent_id as usize].first_child = id;
        }
        FrameId(id)
    }

    /// Takes out a frame that has no children, and says whose child it was.
    pub(super) fn remove(&mut self, id: FrameId) -> (Frame, Option<FrameId>) {
        let Entry { parent, previous, next, frame, .. } = self.slab.remove(id.0 as usize);
        if next != NONE {
            self.slab[next as usize].previous = previous;
        }
        if previous != NONE {
            self.slab[previous as usize].next = next;
        } else if parent != NONE {
            self.slab[parent as usize].first_child = next;
        }
        (frame, (parent != NONE).then_some(FrameId(parent)))
    }

    pub(super) fn get(&self, id: FrameId) -> &Frame {
        &self.entry(id).frame
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        &mut self.slab[id.0 as usize].frame
    }

    pub(super) fn contains(&self, id: FrameId) -> bool {
        self.slab.contains(id.0 as usize)
    }

    pub(super) fn parent(&self, id: FrameId) -> Option<FrameId> {
        let parent = self.entry(id).parent;
        (parent != NONE).then_some(FrameId(parent))
    }

    /// The child that was added last.
    pub(super) fn first_child(&self, id: FrameId) -> Option<FrameId> {
        let child = self.entry(id).first_child;
        (child != NONE).then_some(FrameId(child))
    }

    /// The frame and everything that it is a part of, from the inside.
    pub(super) fn ancestors(&self, id: FrameId) -> impl Iterator<Item = FrameId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    fn entry(&self, id: FrameId) -> &Entry {
        &self.slab[id.0 as usize]
    }
}
