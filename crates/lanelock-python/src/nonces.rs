//! Random nonces, and how many messages a key has encrypted with them.

use std::sync::atomic::{AtomicU64, Ordering};

use lanelock::{Aead, Buffer, Cipher, Op, QueuePair, Session, SessionError, Transform};
use zeroize::Zeroizing;

use crate::engine;
use crate::failure::Reason;

/// Bytes drawn at a time.
const DRAWN: usize = 3072;
/// Most bytes drawn from one seed.
const PER_SEED: usize = 1 << 20;

/// A generator: AES-256 in counter mode, with key and first counter of the operating system. One
/// serves one thread for one column, so none is ever copied into the child of a fork.
pub(crate) struct Nonces {
    session: Session,
    counter: [u8; 16],
    drawn: [u8; DRAWN],
    used: usize,
    left: usize,
}

impl Nonces {
    fn new() -> Result<Self, SessionError> {
        let (session, counter) = seeded()?;
        Ok(Self {
            session,
            counter,
            drawn: [0; DRAWN],
            used: DRAWN,
            left: PER_SEED,
        })
    }

    /// Makes sure that `len` fresh random bytes can be taken, at most [`DRAWN`].
    #[inline]
    pub(crate) fn prepare(
        nonces: &mut Option<Self>,
        queue: &mut QueuePair,
        len: usize,
    ) -> Result<(), Reason> {
        match nonces {
            Some(nonces) if DRAWN - nonces.used >= len => Ok(()),
            _ => Self::draw(nonces, queue).map_err(|_| Reason::Engine),
        }
    }

    #[cold]
    fn draw(nonces: &mut Option<Self>, queue: &mut QueuePair) -> Result<(), SessionError> {
        let this = match nonces {
            Some(nonces) => nonces,
            None => nonces.insert(Self::new()?),
        };
        if this.left < DRAWN {
            (this.session, this.counter) = seeded()?;
            this.left = PER_SEED;
        }
        this.left -= DRAWN;
        this.drawn.fill(0);
        let buffer = Buffer::in_place(&mut this.drawn);
        let mut burst = [Op::new(&this.session, buffer).iv(&this.counter)];
        let outcome = queue.process(&mut burst);
        assert_eq!(outcome.succeeded, 1, "AES-CTR takes any bytes");
        let blocks = (DRAWN / 16) as u128;
        let counter = u128::from_be_bytes(this.counter).wrapping_add(blocks);
        this.counter = counter.to_be_bytes();
        this.used = 0;
        Ok(())
    }

    /// Fills `nonce` with bytes that are prepared.
    #[inline]
    pub(crate) fn take(&mut self, nonce: &mut [u8]) {
        let fresh = &self.drawn[self.used..][..nonce.len()];
        self.used += nonce.len();
        // Most have 12 bytes. As two words, which are copied without a call.
        match (
            nonce.len(),
            nonce.first_chunk_mut(),
            fresh.first_chunk::<8>(),
        ) {
            (12, Some(first), Some(drawn)) => {
                *first = *drawn;
                if let (Some(last), Some(drawn)) = (nonce.last_chunk_mut(), fresh.last_chunk::<4>())
                {
                    *last = *drawn;
                }
            }
            _ => nonce.copy_from_slice(fresh),
        }
    }
}

fn seeded() -> Result<(Session, [u8; 16]), SessionError> {
    let (mut key, mut counter) = (Zeroizing::new([0; 32]), [0; 16]);
    let fill = |bytes: &mut [u8]| {
        getrandom::fill(bytes).map_err(|error| SessionError::Engine {
            engine: "the operating system's generator",
            why: error.to_string(),
        })
    };
    fill(&mut key[..])?;
    fill(&mut counter)?;
    let session = engine::session(Transform::encrypt(Cipher::AesCtr, &key[..]))?;
    Ok((session, counter))
}

/// How many messages one key may encrypt with random nonces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Most messages; more are refused.
    pub(crate) most: u64,
    /// Where it is said.
    pub(crate) source: &'static str,
}

impl Limit {
    /// A collision of nonces has a probability of 2^-32 at most, or what is revealed by one is
    /// within the bound of the standard.
    pub(crate) fn of(aead: Aead) -> Self {
        match aead {
            Aead::AesGcm | Aead::AesCcm => Self {
                most: 1 << 32,
                source: "NIST SP 800-38D, 8.3",
            },
            Aead::ChaCha20Poly1305 => Self {
                most: 1 << 32,
                source: "96 random bits collide with a probability of 2^-33",
            },
            Aead::AesGcmSiv => Self {
                most: 1 << 48,
                source: "a nonce that repeats reveals no more than equal messages",
            },
            Aead::AesSiv => Self {
                most: 1 << 48,
                source: "128-bit synthetic IVs collide with a probability of 2^-33",
            },
            _ => Self {
                most: 1 << 63,
                source: "192 random bits",
            },
        }
    }

    /// For random IVs of CBC.
    pub(crate) const CBC: Self = Self {
        most: 1 << 48,
        source: "128 random bits collide with a probability of 2^-33",
    };

    /// From so many messages on a warning says that the bound comes near.
    pub(crate) fn warn_from(self) -> u64 {
        self.most / 4
    }
}

/// The messages of one key.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn new(messages: u64) -> Self {
        Self(AtomicU64::new(messages))
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts messages before they are encrypted; what was counted is not taken back. Returns the
    /// count before, or `None` if the bound does not allow them.
    pub(crate) fn add(&self, messages: u64, bound: Limit) -> Option<u64> {
        let add = |count: u64| count.checked_add(messages).filter(|sum| *sum <= bound.most);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()
    }
}
