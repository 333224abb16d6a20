//! The shape of a program before it has types.
//!
//! Programs are built from sketches: a sketch says how deep and how wide, and each builder makes of it what the types
//! and names at its place allow. A smaller sketch makes a smaller program that is as well typed, so failures shrink far.

use proptest::collection::vec;
use proptest::prelude::*;

/// One place of a program: without parts it becomes a leaf. Choices at 0 are the simplest.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    /// Which kind of node.
    pub(super) choice: u8,
    /// Which value, tool or name.
    pub(super) number: u8,
    pub(super) parts: Vec<Self>,
}

static LEAF: Sketch = Sketch { choice: 0, number: 0, parts: Vec::new() };

impl Sketch {
    /// The part at `index`; a leaf if there is none.
    pub(super) fn part(&self, index: usize) -> &Self {
        self.parts.get(index).unwrap_or(&LEAF)
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.parts.is_empty()
    }

    /// One of the elements.
    pub(super) fn pick<'e, T>(&self, elements: &'e [T]) -> &'e T {
        &elements[usize::from(self.number) % elements.len()]
    }
}

/// Sketches up to `depth` levels below their top, most of them that deep.
pub(super) fn sketches(depth: u32) -> BoxedStrategy<Sketch> {
    let leaf = any::<(u8, u8)>().prop_map(|(choice, number)| Sketch { choice, number, parts: Vec::new() });
    if depth == 0 {
        return leaf.boxed();
    }
    let parts = vec(sketches(depth - 1), 1..=3);
    let inner = (any::<(u8, u8)>(), parts).prop_map(|((choice, number), parts)| Sketch { choice, number, parts });
    prop_oneof![1 => leaf, 8 => inner].boxed()
}
