//! What a power cut leaves of the changes that were pending.
//!
//! Nothing is promised, and nothing happens that a disk behind a journaling file system would not do:
//! - Contents survive in any order: each write alone is lost, survives, or survives up to the end of a sector.
//! - Entries survive in their order: creating, removing and renaming up to some instant, and nothing after it.
//! - Entries and contents know nothing of each other: a renamed file may be empty.
//! - Inside a sector nothing is torn, but by the fault that does just that.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;

use super::change::Change;

const SECTOR_BYTES: usize = 512;

/// Which of the changes survive, and as what. If `is_tearing`, the last write that can be torn is, and that is unset.
pub(super) fn survivors(
    pending: VecDeque<Change>,
    is_tearing: &mut bool,
    generator: &mut ChaCha8Rng,
) -> impl Iterator<Item = Change> {
    let entries = pending.iter().filter(|change| change.is_of_entries()).count();
    let mut entries_left = if entries == 0 { 0 } else { draw(generator, entries + 1) };
    let is_long = |change: &Change| matches!(change, Change::Write { bytes, .. } if bytes.len() > 1);
    let torn = if *is_tearing { pending.iter().rposition(is_long) } else { None };
    *is_tearing = *is_tearing && torn.is_none();
    pending.into_iter().enumerate().filter_map(move |(place, change)| match change {
        change @ Change::Write { .. } if Some(place) == torn => tear(change, generator),
        change @ Change::Write { .. } => survive_in_sectors(change, generator),
        change @ Change::Resize { .. } => (draw(generator, 2) == 1).then_some(change),
        change => {
            let survives = entries_left > 0;
            entries_left = entries_left.saturating_sub(1);
            survives.then_some(change)
        }
    })
}

fn survive_in_sectors(change: Change, generator: &mut ChaCha8Rng) -> Option<Change> {
    let Change::Write { file, offset, mut bytes } = change else { return None };
    let first = offset / SECTOR_BYTES;
    let sectors = (offset + bytes.len()).div_ceil(SECTOR_BYTES) - first;
    let survived = draw(generator, sectors + 1);
    if survived == 0 {
        return None;
    }
    bytes.truncate((first + survived) * SECTOR_BYTES - offset);
    Some(Change::Write { file, offset, bytes })
}

/// Keeps the first or the last bytes of a write: at least one, and not all.
fn tear(change: Change, generator: &mut ChaCha8Rng) -> Option<Change> {
    let Change::Write { file, offset, mut bytes } = change else { return None };
    let at = 1 + draw(generator, bytes.len() - 1);
    if draw(generator, 2) == 0 {
        bytes.truncate(at);
        Some(Change::Write { file, offset, bytes })
    } else {
        Some(Change::Write { file, offset: offset + at, bytes: bytes.split_off(at) })
    }
}

fn draw(generator: &mut ChaCha8Rng, below: usize) -> usize {
    (generator.next_u64() % below as u64) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use super::*;
    use crate::disk::change::{Entry, Kind, NodeId};
    use crate::world::Streams;

    const FILE: NodeId = NodeId(1);

    fn write(offset: usize, length: usize) -> Change {
        Change::Write { file: FILE, offset, bytes: vec![b'x'; length] }
    }

    fn create(number: u64) -> Change {
        let at = Entry { directory: NodeId(0), name: OsString::from(number.to_string()) };
        Change::Create { at, node: NodeId(number), kind: Kind::File }
    }

    /// What survives over seeds.
    fn over_seeds(pending: &[Change], is_tearing: bool) -> Vec<Vec<Change>> {
        let of_seed = |seed| {
            let mut generator = Streams::new(seed).generator("disk/a");
            survivors(pending.to_vec().into(), &mut is_tearing.clone(), &mut generator).collect()
        };
        (0..200).map(of_seed).collect()
    }

    fn parts(survived: &[Vec<Change>]) -> BTreeSet<Option<(usize, usize)>> {
        let part = |changes: &Vec<Change>| match changes.as_slice() {
            [Change::Write { offset, bytes, .. }] => Some((*offset, bytes.len())),
            other => {
                assert!(other.is_empty(), "{other:?}");
                None
            }
        };
        survived.iter().map(part).collect()
    }

    #[test]
    fn a_write_survives_up_to_the_end_of_a_sector() {
        let expected = [None, Some((500, 12)), Some((500, 524)), Some((500, 600))];
        assert_eq!(parts(&over_seeds(&[write(500, 600)], false)), BTreeSet::from(expected));
        let whole_or_not = [None, Some((512, 512))];
        assert_eq!(parts(&over_seeds(&[write(512, 512)], false)), BTreeSet::from(whole_or_not));
    }

    #[test]
    fn a_torn_write_survives_in_part_and_never_whole_or_not() {
        let expected = [(8, 1), (8, 2), (8, 3), (9, 3), (10, 2), (11, 1)].map(Some);
        assert_eq!(parts(&over_seeds(&[write(8, 4)], true)), BTreeSet::from(expected));
    }

    #[test]
    fn tearing_waits_for_a_write_that_can_be_torn() {
        let mut generator = Streams::new(7).generator("disk/a");
        let mut is_tearing = true;
        let _one_byte: Vec<_> = survivors(VecDeque::from([write(0, 1)]), &mut is_tearing, &mut generator).collect();
        assert!(is_tearing);
        let _torn: Vec<_> = survivors(VecDeque::from([write(0, 2)]), &mut is_tearing, &mut generator).collect();
        assert!(!is_tearing);
    }

    #[test]
    fn entries_survive_in_their_order_and_writes_in_none() {
        let entries = over_seeds(&[create(1), create(2), create(3)], false);
        let prefixes = (0..=3).map(|count| (1..=count).map(create).collect::<Vec<_>>());
        assert!(prefixes.clone().all(|prefix| entries.contains(&prefix)));
        assert!(entries.iter().all(|survived| prefixes.clone().any(|prefix| prefix == *survived)));
        let writes = over_seeds(&[write(0, 1), write(1, 1)], false);
        assert!(writes.contains(&vec![write(1, 1)]) && writes.contains(&vec![write(0, 1)]));
    }
}
