use std::panic::{AssertUnwindSafe, catch_unwind};

use lanelock_jobs::reference::aes::cbc;
use lanelock_jobs::reference::hash::Hash;
use lanelock_jobs::testing::{Guarded, Random};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::interleave::{CbcHmac, CbcKey, Instructions, Interleave, Side};
use lanelock_kernels::aes::{DecryptKey, EncryptKey};
use lanelock_kernels::hash::{HmacKey, Kernels, Sha1, Sha224, Sha256, Sha384, Sha512};

/// The proof, unless this CPU has no SHA extensions.
fn token() -> Option<Instructions> {
    let token = Instructions::of(Machine::best());
    if token.is_none() {
        println!("this CPU has no SHA extensions");
    }
    token
}

/// What a message consists of, and how it is handed over.
#[derive(Clone, Copy, Debug)]
struct Shape {
    key: usize,
    encrypt: bool,
    side: Side,
    in_place: bool,
    before: usize,
    /// Payload bytes that are authenticated; a multiple of 16 unless `beyond` is more.
    inside: usize,
    /// Payload bytes behind them.
    beyond: usize,
    after: usize,
    /// Longest part, in blocks; of the bytes around the payload, in bytes.
    part: usize,
    from_guard: usize,
}

struct Bench<A: Interleave> {
    token: Instructions,
    reference: Hash,
    mac_key: Vec<u8>,
    prepared: HmacKey<A>,
    random: Random,
    source: Guarded,
    target: Guarded,
}

const CANARY: u8 = 0xa5;

impl<A: Interleave> Bench<A> {
    fn new(token: Instructions, reference: Hash) -> Self {
        let mut random = Random::new(A::DIGEST as u64);
        let mac_key = random.bytes(A::DIGEST);
        Self {
            token,
            reference,
            prepared: HmacKey::new(Kernels::of(Machine::PORTABLE), &mac_key),
            mac_key,
            random,
            source: Guarded::new(Guarded::PAGE),
            target: Guarded::new(Guarded::PAGE),
        }
    }

    fn check(&mut self, shape: Shape) {
        let random = &mut self.random;
        let key = EncryptKey::portable(&random.bytes(shape.key)).unwrap();
        let decrypt_key = DecryptKey::new(&key);
        let (before, after) = (random.bytes(shape.before), random.bytes(shape.after));
        let len = shape.inside + shape.beyond;
        let (text, iv) = (random.bytes(len), random.block());

        let mut expected = text.clone();
        if shape.encrypt {
            cbc::encrypt(&key, &mut iv.clone(), &mut expected);
        } else {
            cbc::decrypt(&key, &mut iv.clone(), &mut expected);
        }
        let authenticated = match shape.side {
            Side::Source => &text,
            Side::Target => &expected,
        };
        let authenticated = [&before, &authenticated[..shape.inside], &after].concat();
        let expected_tag = self.reference.hmac(&self.mac_key, &authenticated);

        let start = Guarded::PAGE - shape.from_guard - len;
        let source = &mut self.source.bytes()[start - 80..];
        source.fill(CANARY);
        source[80..][..len].copy_from_slice(&text);
        let source = source[80..].as_mut_ptr();
        let target = if shape.in_place {
            source
        } else {
            let target = &mut self.target.bytes()[start - 80..];
            target.fill(CANARY);
            target[80..].as_mut_ptr()
        };

        let cbc = if shape.encrypt {
            CbcKey::Encrypt(&key)
        } else {
            CbcKey::Decrypt(&decrypt_key)
        };
        let mut message = CbcHmac::new(self.token, cbc, &self.prepared, iv).unwrap();
        Self::authenticate(&mut self.random, &mut message, &before, shape.part);
        let together = shape.inside / 16 * 16;
        let mut done = 0;
        while done < together {
            let len = (16 * (1 + self.random.below(shape.part))).min(together - done);
            // SAFETY: inside the buffers' `len` bytes, which are alike or disjoint.
            unsafe { message.update(shape.side, source.add(done), target.add(done), len) };
            done += len;
        }
        message.authenticate(&text[together..shape.inside]); // of the source
        Self::authenticate(&mut self.random, &mut message, &after, shape.part);
        let mut tag = vec![0; A::DIGEST];
        message.tag(&mut tag);
        // SAFETY: the rest of the buffers.
        unsafe { message.cipher(source.add(done), target.add(done), len - done) };

        assert_eq!(tag, expected_tag, "{shape:?}");
        let output = if shape.in_place {
            &mut self.source
        } else {
            &mut self.target
        };
        let output = &output.bytes()[start - 80..];
        assert!(output[80..][..len] == expected, "{shape:?}");
        let mut untouched = output[..80].iter().chain(&output[80 + len..]);
        assert!(untouched.all(|&byte| byte == CANARY), "{shape:?}");
        if !shape.in_place {
            let source = &self.source.bytes()[start..][..len];
            assert!(source == text, "{shape:?}");
        }
    }

    /// In pieces of `part` bytes at the most.
    fn authenticate(random: &mut Random, message: &mut CbcHmac<'_, A>, bytes: &[u8], part: usize) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at((1 + random.below(part)).min(rest.len()));
            message.authenticate(now);
            rest = later;
        }
    }

    /// Every combination of key size, direction, side and placement.
    fn check_all(&mut self, shape: Shape) {
        for key in [16, 24, 32] {
            for bits in 0..8 {
                let side = [Side::Source, Side::Target][bits & 1];
                self.check(Shape {
                    key,
                    side,
                    encrypt: bits & 2 > 0,
                    in_place: bits & 4 > 0,
                    ..shape
                });
            }
        }
    }
}

const SHAPE: Shape = Shape {
    key: 16,
    encrypt: true,
    side: Side::Target,
    in_place: true,
    before: 0,
    inside: 0,
    beyond: 0,
    after: 0,
    part: 1000,
    from_guard: 0,
};

fn every_length<A: Interleave>(reference: Hash) {
    let Some(token) = token() else { return };
    let mut bench = Bench::<A>::new(token, reference);
    for before in 0..=257 {
        let inside = 16 * (before % 18);
        bench.check_all(Shape {
            before,
            inside,
            ..SHAPE
        });
    }
    for after in 0..=257 {
        let (before, inside) = (24, 16 * (after % 23));
        bench.check_all(Shape {
            before,
            inside,
            after,
            ..SHAPE
        });
    }
    // What is authenticated ends anywhere before the payload: a tag and padding are encrypted.
    for inside in 0..=257 {
        let beyond = (32 - inside % 16) % 32;
        bench.check(Shape {
            side: Side::Source,
            before: 13,
            inside,
            beyond,
            in_place: inside % 3 > 0,
            ..SHAPE
        });
    }
}

fn random_splits<A: Interleave>(reference: Hash) {
    let Some(token) = token() else { return };
    let mut bench = Bench::<A>::new(token, reference);
    for _ in 0..150 {
        let random = &mut bench.random;
        let shape = Shape {
            before: random.below(200),
            inside: 16 * random.below(160),
            beyond: 16 * random.below(3),
            after: [0, random.below(200)][random.below(2)],
            part: [1, 3, 4, 8, 9, 30][random.below(6)],
            from_guard: [0, random.below(70)][random.below(2)],
            ..SHAPE
        };
        bench.check_all(shape);
    }
}

macro_rules! per_hash {
    ($($name:ident: $algorithm:ident)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn every_length() {
                super::every_length::<$algorithm>(Hash::$algorithm);
            }

            #[test]
            fn random_splits() {
                super::random_splits::<$algorithm>(Hash::$algorithm);
            }
        }
    )*};
}

per_hash!(sha1: Sha1 sha224: Sha224 sha256: Sha256);

#[test]
fn hash_functions_without_instructions_of_their_own_do_not_interleave() {
    fn is_none<A: Interleave>(token: Instructions) -> bool {
        let key = EncryptKey::portable(&[1; 16]).unwrap();
        let mac_key = HmacKey::<A>::new(Kernels::of(Machine::PORTABLE), b"key");
        CbcHmac::new(token, CbcKey::Encrypt(&key), &mac_key, [0; 16]).is_none()
    }
    let Some(token) = token() else { return };
    assert!(is_none::<Sha384>(token) && is_none::<Sha512>(token));
}

#[test]
fn parts_of_a_block_are_refused() {
    let Some(token) = token() else { return };
    let key = EncryptKey::portable(&[1; 16]).unwrap();
    let mac_key = HmacKey::<Sha1>::new(Kernels::of(Machine::PORTABLE), b"key");
    let mut message = CbcHmac::new(token, CbcKey::Encrypt(&key), &mac_key, [0; 16]).unwrap();
    let mut data = [7_u8; 24];
    let update = AssertUnwindSafe(|| {
        // SAFETY: in place on 24 bytes.
        unsafe { message.update(Side::Target, data.as_ptr(), data.as_mut_ptr(), 24) };
    });
    assert!(catch_unwind(update).is_err());
    assert_eq!(data, [7; 24]);
}
