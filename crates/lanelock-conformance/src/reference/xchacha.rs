//! HChaCha20 as draft-irtf-cfrg-xchacha-03, section 2, writes it down.

/// Key and nonce of the ChaCha20 that an XChaCha20 message is.
///
/// # Panics
/// If the key has other than 32 or the nonce other than 24 bytes.
pub(super) fn extended(key: &[u8], nonce: &[u8]) -> (Vec<u8>, Vec<u8>) {
    assert_eq!((key.len(), nonce.len()), (32, 24));
    let (first, rest) = nonce.split_at(16);
    (key_of(key, first), [&[0; 4][..], rest].concat())
}

fn key_of(key: &[u8], nonce: &[u8]) -> Vec<u8> {
    let bytes = [&b"expand 32-byte k"[..], key, nonce].concat();
    let mut state: Vec<u32> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("48 + 16 bytes")))
        .collect();
    for _ in 0..10 {
        for column in 0..4 {
            quarter_round(&mut state, [0, 4, 8, 12].map(|row| row + column));
        }
        for diagonal in 0..4 {
            let at = |row: usize| 4 * row + (diagonal + row) % 4;
            quarter_round(&mut state, [0, 1, 2, 3].map(at));
        }
    }
    let rows = state[..4].iter().chain(&state[12..]);
    rows.flat_map(|word| word.to_le_bytes()).collect()
}

/// RFC 8439, 2.1.
fn quarter_round(state: &mut [u32], [a, b, c, d]: [usize; 4]) {
    for (to, from, turned, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[to] = state[to].wrapping_add(state[from]);
        state[turned] = (state[turned] ^ state[to]).rotate_left(bits);
    }
}

#[cfg(test)]
mod tests {
    use super::key_of;

    /// draft-irtf-cfrg-xchacha-03, 2.2.1.
    #[test]
    fn the_key_is_the_drafts() {
        let key: Vec<u8> = (0..32).collect();
        let nonce = hex::decode("000000090000004a0000000031415927").expect("hexadecimal");
        let expected = "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc";
        assert_eq!(hex::encode(key_of(&key, &nonce)), expected);
    }
}
