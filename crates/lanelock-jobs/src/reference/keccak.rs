//! SHA-3 and SHAKE (FIPS 202), HMAC over SHA-3, cSHAKE and KMAC (SP 800-185).

#![allow(clippy::unwrap_used)] // slices of the right length

/// The output of `len` bytes of a sponge with `rate` bytes, over `message` and `suffix`.
///
/// # Panics
/// If `rate` is zero.
pub fn sponge(rate: usize, suffix: u8, message: &[u8], len: usize) -> Vec<u8> {
    let mut padded = message.to_vec();
    padded.push(suffix);
    padded.resize(padded.len().next_multiple_of(rate), 0);
    *padded.last_mut().unwrap() |= 0x80;
    let mut state = [0; 200];
    for block in padded.chunks(rate) {
        state
            .iter_mut()
            .zip(block)
            .for_each(|(to, byte)| *to ^= byte);
        state = permute(&state);
    }
    let mut output = Vec::new();
    while output.len() < len {
        output.extend(&state[..rate]);
        state = permute(&state);
    }
    output.truncate(len);
    output
}

/// HMAC over SHA-3 with a digest of `len` bytes.
pub fn hmac(len: usize, key: &[u8], message: &[u8]) -> Vec<u8> {
    let rate = 200 - 2 * len;
    let hash = |message: &[u8]| sponge(rate, 0x06, message, len);
    let mut block = if key.len() > rate {
        hash(key)
    } else {
        key.to_vec()
    };
    block.resize(rate, 0);
    let padded = |byte: u8| block.iter().map(|b| b ^ byte).collect::<Vec<_>>();
    let inner = hash(&[&padded(0x36)[..], message].concat());
    hash(&[padded(0x5c), inner].concat())
}

/// cSHAKE with `rate` bytes (SP 800-185, section 3.3), of which `name` and `customization` are not both
/// empty.
pub fn cshake(
    rate: usize,
    name: &[u8],
    customization: &[u8],
    message: &[u8],
    len: usize,
) -> Vec<u8> {
    let begin = [encode_string(name), encode_string(customization)].concat();
    let message = [&bytepad(&begin, rate)[..], message].concat();
    sponge(rate, 0x04, &message, len)
}

/// KMAC with `rate` bytes (SP 800-185, section 4.3).
///
/// # Panics
/// If `rate` is zero.
pub fn kmac(rate: usize, key: &[u8], customization: &[u8], message: &[u8], len: usize) -> Vec<u8> {
    let mut keyed = bytepad(&encode_string(key), rate);
    keyed.extend(message);
    let bits = digits(8 * len);
    keyed.extend(&bits);
    keyed.push(u8::try_from(bits.len()).unwrap());
    cshake(rate, b"KMAC", customization, &keyed, len)
}

fn bytepad(text: &[u8], width: usize) -> Vec<u8> {
    let mut padded = left_encode(width);
    padded.extend(text);
    while !padded.len().is_multiple_of(width) {
        padded.push(0);
    }
    padded
}

fn encode_string(text: &[u8]) -> Vec<u8> {
    [left_encode(8 * text.len()), text.to_vec()].concat()
}

fn left_encode(number: usize) -> Vec<u8> {
    let digits = digits(number);
    [vec![u8::try_from(digits.len()).unwrap()], digits].concat()
}

/// The digits of a number to the base 256, at least one.
fn digits(number: usize) -> Vec<u8> {
    let last = number.to_le_bytes()[0];
    match number / 256 {
        0 => vec![last],
        rest => [digits(rest), vec![last]].concat(),
    }
}

/// Keccak-p[1600, 24] of section 3.3: A[x, y, z] is bit z of word x + 5y.
fn permute(bytes: &[u8; 200]) -> [u8; 200] {
    let mut a = [[0_u64; 5]; 5];
    for (i, word) in bytes.chunks(8).enumerate() {
        a[i % 5][i / 5] = u64::from_le_bytes(word.try_into().unwrap());
    }
    let mut register = 1_u8;
    for _ in 0..24 {
        // θ
        let c = a.map(|column| column.iter().fold(0, |sum, word| sum ^ word));
        for (x, column) in a.iter_mut().enumerate() {
            let effect = c[(x + 4) % 5] ^ c[(x + 1) % 5].rotate_left(1);
            column.iter_mut().for_each(|word| *word ^= effect);
        }
        // ρ: the offsets are those of the walk in algorithm 2.
        let (mut x, mut y) = (1, 0);
        for t in 0..24 {
            a[x][y] = a[x][y].rotate_left((t + 1) * (t + 2) / 2 % 64);
            (x, y) = (y, (2 * x + 3 * y) % 5);
        }
        // π
        let b = a;
        for x in 0..5 {
            for y in 0..5 {
                a[x][y] = b[(x + 3 * y) % 5][x];
            }
        }
        // χ
        let b = a;
        for x in 0..5 {
            for y in 0..5 {
                a[x][y] ^= !b[(x + 1) % 5][y] & b[(x + 2) % 5][y];
            }
        }
        // ι: the register of algorithm 5, seven steps a round.
        for j in 0..7 {
            if register & 1 == 1 {
                a[0][0] ^= 1 << ((1 << j) - 1);
            }
            register = register << 1 ^ if register >> 7 == 1 { 0x71 } else { 0 };
        }
    }
    let mut bytes = [0; 200];
    for (i, to) in bytes.chunks_mut(8).enumerate() {
        to.copy_from_slice(&a[i % 5][i / 5].to_le_bytes());
    }
    bytes
}
