//! The checksum of a frame.

/// CRC-32 as in IEEE 802.3 of the parts, one after another.
pub(super) fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_that_everybody_uses() {
        assert_eq!(checksum(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(checksum(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
        assert_eq!(checksum(&[]), 0);
    }
}
