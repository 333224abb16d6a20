//! SQLite's write-ahead log, as far as its damage shows. Knows no file.
//!
//! The log is a header and frames of one page each. Salts say to which generation a frame belongs, and every frame carries a
//! checksum of all before it and of itself; a frame that ends a transaction says how many pages the file then has. SQLite
//! reads up to the last transaction before the first frame that does not fit, and drops the rest in silence. That is right
//! after a crash, which cuts the last transaction off: it was never acknowledged. It is wrong where a frame in the middle
//! rots. The two differ in what follows: a frame that continues the checksum of a frame that ends a transaction was written
//! when that transaction was already synchronised.

use super::schema::PAGE_BYTES;

pub(super) const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
pub(super) const FRAME_BYTES: usize = FRAME_HEADER_BYTES + PAGE_BYTES;

/// Says that it is a log; the last bit, whether its checksums read words with the highest byte first.
const MAGIC: u32 = 0x377f_0682;

/// A log, read frame by frame.
#[derive(Debug)]
pub(super) struct Log {
    state: State,
    frames: u64,
}

#[derive(Debug)]
enum State {
    /// The header is damaged, or there is none.
    Headless { candidates: Vec<(Order, Sum)>, salts: Option<[u8; 8]> },
    /// All fits so far.
    Sound { order: Order, salts: [u8; 8], sum: Sum },
    /// A frame did not fit. It is not clear yet why.
    Broken { order: Order, salts: [u8; 8], first: u64, previous: Suspect },
    /// What follows the first bad frame was written after that was synchronised.
    Damaged { first: u64 },
}

/// A frame after which all that continues it tells of damage, if it ends a transaction.
#[derive(Debug)]
struct Suspect {
    /// What the next frame's checksum may begin with.
    sums: Vec<Sum>,
    ends_transaction: bool,
}

/// How checksums read words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    HighestByteFirst,
    LowestByteFirst,
}

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum(u32, u32);

impl Log {
    /// Begins with the header.
    pub(super) fn new(header: &[u8; HEADER_BYTES]) -> Self {
        let (stored, magic) = (Sum::stored(&header[24..]), word(header, 0));
        let order = if magic & 1 == 1 { Order::HighestByteFirst } else { Order::LowestByteFirst };
        let sum = Sum(0, 0).add(order, &header[..24]);
        let is_sound = magic & !1 == MAGIC && word(header, 8) as usize == PAGE_BYTES && sum == stored;
        let state = if is_sound {
            State::Sound { order, salts: salts(&header[16..]), sum }
        } else {
            let orders = [Order::HighestByteFirst, Order::LowestByteFirst];
            let seeds = |order| [(order, stored), (order, Sum(0, 0).add(order, &header[..24]))];
            State::Headless { candidates: orders.into_iter().flat_map(seeds).collect(), salts: None }
        };
        Self { state, frames: 0 }
    }

    /// Takes the next frame.
    pub(super) fn push(&mut self, frame: &[u8; FRAME_BYTES]) {
        self.frames += 1;
        let found = Sum::stored(&frame[16..]);
        let continues = |order, sum: Sum| sum.add_frame(order, frame) == found;
        match &mut self.state {
            State::Damaged { .. } => {}
            State::Sound { order, salts, sum } => {
                let computed = sum.add_frame(*order, frame);
                if self::salts(&frame[8..]) == *salts && computed == found && word(frame, 0) != 0 {
                    *sum = computed;
                } else {
                    let ends_transaction = pages(frame, *order, computed, found) != 0;
                    let previous = Suspect { sums: vec![found, computed], ends_transaction };
                    self.state = State::Broken { order: *order, salts: *salts, first: self.frames, previous };
                }
            }
            State::Broken { order, salts, first, previous } => {
                let is_of_this_log = self::salts(&frame[8..]) == *salts;
                if previous.ends_transaction
                    && is_of_this_log
                    && previous.sums.iter().any(|sum| continues(*order, *sum))
                {
                    self.state = State::Damaged { first: *first };
                } else {
                    *previous = Suspect { sums: vec![found], ends_transaction: word(frame, 4) != 0 };
                }
            }
            State::Headless { candidates, salts } => {
                // An empty frame fits everything, and was never written.
                let is_frame = word(frame, 0) != 0 && salts.is_none_or(|salts| salts == self::salts(&frame[8..]));
                if is_frame && candidates.iter().any(|(order, sum)| continues(*order, *sum)) {
                    self.state = State::Damaged { first: 0 };
                } else {
                    *candidates =
                        [Order::HighestByteFirst, Order::LowestByteFirst].map(|order| (order, found)).to_vec();
                    *salts = Some(self::salts(&frame[8..]));
                }
            }
        }
    }

    /// The first bad frame, from 1, where committed transactions follow it; 0, if it is the header.
    pub(super) fn damage(&self) -> Option<u64> {
        match self.state {
            State::Damaged { first } => Some(first),
            State::Headless { .. } | State::Sound { .. } | State::Broken { .. } => None,
        }
    }
}

impl Sum {
    fn stored(bytes: &[u8]) -> Self {
        Self(word(bytes, 0), word(bytes, 4))
    }

    fn add(mut self, order: Order, bytes: &[u8]) -> Self {
        for pair in bytes.chunks_exact(8) {
            let (mut first, mut second) = (word(pair, 0), word(pair, 4));
            if order == Order::LowestByteFirst {
                (first, second) = (first.swap_bytes(), second.swap_bytes());
            }
            self.0 = self.0.wrapping_add(first).wrapping_add(self.1);
            self.1 = self.1.wrapping_add(second).wrapping_add(self.0);
        }
        self
    }

    /// A frame's salts and checksum are not part of what is summed.
    fn add_frame(self, order: Order, frame: &[u8; FRAME_BYTES]) -> Self {
        self.add(order, &frame[..8]).add(order, &frame[FRAME_HEADER_BYTES..])
    }
}

/// How many pages the file has after this frame; 0, if it ends no transaction. Where nothing but this number was changed, it
/// follows from the checksum what it was: a change of it goes through the sum as one of the second half alone.
fn pages(frame: &[u8; FRAME_BYTES], order: Order, computed: Sum, found: Sum) -> u32 {
    let pages = word(frame, 4);
    let mut change = Sum(found.0.wrapping_sub(computed.0), found.1.wrapping_sub(computed.1));
    for _pair in 0..PAGE_BYTES / 8 {
        let second = change.1.wrapping_sub(change.0);
        change = Sum(change.0.wrapping_sub(second), second);
    }
    if change.0 != 0 {
        return pages;
    }
    match order {
        Order::HighestByteFirst => pages.wrapping_add(change.1),
        Order::LowestByteFirst => pages.swap_bytes().wrapping_add(change.1).swap_bytes(),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn salts(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|index| bytes[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of transactions of so many frames each.
    fn log(order: Order, salt: u8, transactions: &[usize]) -> Vec<u8> {
        let mut bytes = (MAGIC | u32::from(order == Order::HighestByteFirst)).to_be_bytes().to_vec();
        bytes.extend([0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0, 0, 0, 0, 1]);
        bytes.extend([salt; 8]);
        let mut sum = Sum(0, 0).add(order, &bytes);
        push_sum(&mut bytes, sum);
        for frames in transactions {
            for index in 0..*frames {
                let mut frame = [index as u8 ^ salt; FRAME_BYTES];
                frame[..4].copy_from_slice(&(index as u32 + 1).to_be_bytes());
                let pages: u32 = if index + 1 == *frames { 9 } else { 0 };
                frame[4..8].copy_from_slice(&pages.to_be_bytes());
                frame[8..16].copy_from_slice(&[salt; 8]);
                sum = sum.add_frame(order, &frame);
                let mut stored = Vec::new();
                push_sum(&mut stored, sum);
                frame[16..24].copy_from_slice(&stored);
                bytes.extend(frame);
            }
        }
        bytes
    }

    fn push_sum(bytes: &mut Vec<u8>, sum: Sum) {
        bytes.extend(sum.0.to_be_bytes());
        bytes.extend(sum.1.to_be_bytes());
    }

    fn damage(bytes: &[u8]) -> Option<u64> {
        let (header, frames) = bytes.split_first_chunk().unwrap();
        let mut log = Log::new(header);
        for frame in frames.as_chunks().0 {
            log.push(frame);
        }
        log.damage()
    }

    const ORDERS: [Order; 2] = [Order::HighestByteFirst, Order::LowestByteFirst];
    const FRAME_OFFSETS: [usize; 10] = [0, 3, 4, 7, 8, 15, 16, 23, 24, FRAME_BYTES - 1];

    #[test]
    fn a_bad_frame_before_the_last_transaction_is_damage() {
        for (order, transactions) in ORDERS.into_iter().flat_map(|order| [(order, &[2, 1, 3, 1][..]), (order, &[1, 2])])
        {
            let sound = log(order, 7, transactions);
            assert_eq!(damage(&sound), None);
            let before_last: usize = transactions.split_last().unwrap().1.iter().sum();
            for (frame, offset) in (0..before_last).flat_map(|frame| FRAME_OFFSETS.map(|offset| (frame, offset))) {
                let mut bytes = sound.clone();
                bytes[HEADER_BYTES + frame * FRAME_BYTES + offset] ^= 0x10;
                assert_eq!(damage(&bytes), Some(frame as u64 + 1), "{order:?}, byte {offset} of frame {frame}");
            }
        }
    }

    #[test]
    fn a_torn_last_transaction_is_what_a_crash_leaves() {
        let sound = log(Order::LowestByteFirst, 7, &[2, 1, 3]);
        for length in HEADER_BYTES..sound.len() {
            assert_eq!(damage(&sound[..length]), None, "cut at {length}");
        }
        // Any of its frames may be missing, and the others be there.
        for frame in 3..6 {
            let mut bytes = sound.clone();
            bytes[HEADER_BYTES + frame * FRAME_BYTES..][..FRAME_BYTES].fill(0);
            assert_eq!(damage(&bytes), None, "frame {frame} is missing");
        }
    }

    #[test]
    fn a_bad_header_before_frames_is_damage() {
        for (order, offset) in ORDERS.into_iter().flat_map(|order| (0..HEADER_BYTES).map(move |offset| (order, offset)))
        {
            let mut bytes = log(order, 7, &[1, 2]);
            bytes[offset] ^= 0x10;
            assert_eq!(damage(&bytes), Some(0), "{order:?}, byte {offset}");
        }
        assert_eq!(damage(&vec![0; HEADER_BYTES + 3 * FRAME_BYTES]), None);
    }

    #[test]
    fn what_an_older_generation_left_is_not_read() {
        let (older, mut bytes) =
            (log(Order::LowestByteFirst, 7, &[1, 1, 1, 1]), log(Order::LowestByteFirst, 8, &[1, 1]));
        bytes.extend(&older[bytes.len()..]);
        assert_eq!(damage(&bytes), None);
    }

    #[test]
    fn what_was_written_and_taken_back_is_not_read() {
        // A transaction of 6 frames that was never committed, and over it a shorter one that was.
        let mut long = log(Order::LowestByteFirst, 7, &[2, 6]);
        let short = log(Order::LowestByteFirst, 7, &[2, 1]);
        long[..short.len()].copy_from_slice(&short);
        // They are alike up to the frame that ends the shorter one, so the rest does not continue it.
        assert_eq!(damage(&long), None);
    }
}
