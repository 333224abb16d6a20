//! Names of calls that are the same in every evaluation with the same answers, in whatever order these come.
//!
//! What is done one after another is a strand, whose calls are counted. Parts that are evaluated at once are strands of
//! their own, named by the strand they part from, by how often it has parted, and by which part they are. So is a memo's
//! expression, since whoever comes first evaluates it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::super::syntax::MemoId;
use super::frame::FrameId;
use super::interpreter::Machine;

#[derive(Debug, Default)]
pub(super) struct Places {
    /// By the frame that it began with.
    strands: BTreeMap<FrameId, Strand>,
    /// By the number of the call.
    names: BTreeMap<u64, Arc<str>>,
}

#[derive(Debug, Default)]
struct Strand {
    /// With a slash at its end; empty for the first.
    path: String,
    calls: u64,
    partings: u64,
}

impl Machine<'_> {
    /// Names calls from now on.
    pub(in crate::evaluator) fn name_places(&mut self) {
        self.places = Some(Box::default());
    }

    /// The frame that the frame's strand began with; none for the first strand of all.
    fn strand_root(&self, places: &Places, id: FrameId) -> Option<FrameId> {
        self.frames.ancestors(id).find(|ancestor| places.strands.contains_key(ancestor))
    }

    fn with_places<T>(&mut self, act: impl FnOnce(&Self, &mut Places) -> T) -> Option<T> {
        let mut places = self.places.take()?;
        let result = act(self, &mut places);
        self.places = Some(places);
        Some(result)
    }

    /// Parts of a frame begin, to be evaluated at once.
    pub(super) fn part_strands(&mut self, id: FrameId, children: &[(u32, FrameId)]) {
        self.with_places(|machine, places| {
            let root = machine.strand_root(places, id);
            let strand = places.strands.entry(root.unwrap_or(FIRST)).or_default();
            strand.partings += 1;
            let prefix = format!("{}{}.", strand.path, strand.partings);
            for (slot, child) in children {
                let path = format!("{prefix}{}/", slot + 1);
                places.strands.insert(*child, Strand { path, ..Strand::default() });
            }
        });
    }

    /// The frame evaluates a memo's expression.
    pub(super) fn begin_memo_strand(&mut self, id: FrameId, key: MemoId) {
        self.with_places(|_, places| {
            places.strands.insert(id, Strand { path: format!("m{}/", key.0 + 1), ..Strand::default() });
        });
    }

    /// The name of an attempt of a call.
    pub(super) fn place_of_call(&mut self, id: FrameId, number: u64, attempt: u32) -> Option<Arc<str>> {
        self.with_places(|machine, places| {
            if attempt == 1 {
                let root = machine.strand_root(places, id);
                let strand = places.strands.entry(root.unwrap_or(FIRST)).or_default();
                strand.calls += 1;
                let name = format!("{}{}", strand.path, strand.calls);
                places.names.insert(number, name.into());
            }
            let mut name = places.names.get(&number).map(ToString::to_string).unwrap_or_default();
            if attempt > 1 {
                // Writing to a string does not fail.
                let _written = write!(name, "#{attempt}");
            }
            name.into()
        })
    }

    /// The frame is gone.
    pub(super) fn end_strand(&mut self, id: FrameId) {
        if let Some(places) = &mut self.places {
            places.strands.remove(&id);
        }
    }
}

/// Stands for the root of the first strand, which no frame has: frames are counted from 1.
const FIRST: FrameId = FrameId { place: u32::MAX, born: 0 };
