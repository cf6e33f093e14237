//! Bursts of one algorithm with fixed and with random secrets, through a queue pair.

use lanelock::algorithm::{MAX_IV_LEN, Spec};
use lanelock::transform::Direction;
use lanelock::{Algorithm, Buffer, Device, Op, QueuePair, Session, Status, Transform};

use super::Timed;
use crate::failure::Failure;

/// What a burst does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Encrypts, or computes a tag or digest.
    Protect,
    /// Decrypts, or verifies a tag that is right.
    Undo,
    /// Verifies a tag that is wrong: of the fixed class in its last byte, of the other anywhere.
    Reject,
}

/// Messages of a burst: fills the lanes of the widest tier.
const BURST: usize = 32;
/// Messages of a burst whose tags are wrong where the class says.
const TELLING: usize = 4;
/// Bytes of a message: whole blocks, and more than one of every algorithm but SHA-512.
const LEN: usize = 96;
/// Bytes of additional data, where the algorithm has any.
const AAD: usize = 16;
/// Bursts that are prepared, then timed in a row: as much as fits the second-level cache.
const SLOTS: usize = 48;

/// The bursts of a batch.
pub(super) struct Subject {
    device: Device,
    queue: QueuePair,
    clock: quanta::Clock,
    spec: Spec,
    kind: Kind,
    random: fastrand::Rng,
    /// What is the same in every burst of the fixed class: keys, then texts.
    fixed: Vec<u8>,
    slots: Vec<Slot>,
}

/// One burst under one key.
struct Slot {
    is_fixed: bool,
    session: Session,
    /// Keys, then the texts of all messages.
    secret: Vec<u8>,
    tags: Vec<Vec<u8>>,
}

impl Kind {
    /// Those of `algorithm`.
    pub(super) fn of(algorithm: Algorithm) -> &'static [Self] {
        match algorithm {
            Algorithm::Hash(_) => &[Self::Protect],
            Algorithm::Cipher(_) => &[Self::Protect, Self::Undo],
            _ => &[Self::Protect, Self::Undo, Self::Reject],
        }
    }

    /// The name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Protect => "protect",
            Self::Undo => "undo",
            Self::Reject => "reject",
        }
    }

    fn direction(self) -> Direction {
        match self {
            Self::Protect => Direction::Forward,
            Self::Undo | Self::Reject => Direction::Reverse,
        }
    }

    fn expected(self) -> Status {
        match self {
            Self::Protect | Self::Undo => Status::Success,
            Self::Reject => Status::AuthFailed,
        }
    }
}

impl Subject {
    /// Prepares the first batch.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a session cannot be made or a message not be protected.
    pub(super) fn new(device: &Device, spec: Spec, kind: Kind, seed: u64) -> Result<Self, Failure> {
        let mut random = fastrand::Rng::with_seed(seed);
        let fixed = bytes(&mut random, spec.key_len + spec.mac_key_len + BURST * LEN);
        Ok(Self {
            device: device.clone(),
            queue: device.queue_pair(1),
            clock: quanta::Clock::new(),
            spec,
            kind,
            random,
            fixed,
            slots: Vec::new(),
        })
    }

    /// A burst, of either class by chance. Both take the same steps.
    fn slot(&mut self) -> Result<Slot, Failure> {
        let is_fixed = self.random.bool();
        let mut secret = bytes(&mut self.random, self.fixed.len());
        let position = self.random.u64(..);
        if is_fixed {
            secret.copy_from_slice(&self.fixed);
        }
        let session = self.session(self.kind.direction(), &secret)?;
        let mut slot = Slot {
            is_fixed,
            tags: vec![vec![0; session.tag_len()]; BURST],
            session,
            secret,
        };
        let is_cipher = matches!(self.spec.algorithm, Algorithm::Cipher(_));
        if self.kind != Kind::Protect && !is_cipher {
            // What is undone has to be right, or wrong in one place.
            let reverse = slot.session;
            slot.session = self.session(Direction::Forward, &slot.secret)?;
            let (_, statuses) = run(&mut self.queue, &self.clock, self.spec, &mut slot);
            expect(&statuses, Status::Success)?;
            slot.session = reverse;
        }
        if self.kind == Kind::Reject {
            // A few messages of the burst tell the classes apart: a small difference.
            for (i, tag) in slot.tags.iter_mut().enumerate() {
                let last = tag.len() as u64 - 1;
                let at = if is_fixed || i >= TELLING {
                    last
                } else {
                    position % (last + 1)
                };
                tag[usize::try_from(at).expect("an index")] ^= 0x55;
            }
        }
        Ok(slot)
    }

    fn session(&self, direction: Direction, secret: &[u8]) -> Result<Session, Failure> {
        let (key, rest) = secret.split_at(self.spec.key_len);
        let mac_key = &rest[..self.spec.mac_key_len];
        let transform = Transform::new(self.spec.algorithm, direction, key, mac_key);
        self.device.session(transform).map_err(Failure::of)
    }
}

impl Timed for Subject {
    fn batch(&mut self, take: &mut dyn FnMut(bool, u64)) -> Result<(), Failure> {
        self.slots.clear();
        for _ in 0..SLOTS {
            let slot = self.slot()?;
            self.slots.push(slot);
        }
        for slot in &mut self.slots {
            let (ticks, statuses) = run(&mut self.queue, &self.clock, self.spec, slot);
            expect(&statuses, self.kind.expected())?;
            take(slot.is_fixed, ticks);
        }
        Ok(())
    }
}

/// Runs a burst; how long the queue pair took for it, and what it says.
fn run(
    queue: &mut QueuePair,
    clock: &quanta::Clock,
    spec: Spec,
    slot: &mut Slot,
) -> (u64, [Status; BURST]) {
    const PUBLIC: [u8; MAX_IV_LEN] = [1; MAX_IV_LEN];
    let Slot {
        session,
        secret,
        tags,
        ..
    } = slot;
    let has_payload = spec.algorithm.row().encrypts;
    let texts = secret[spec.key_len + spec.mac_key_len..].chunks_exact_mut(LEN);
    let mut ops: Vec<_> = texts
        .zip(tags)
        .map(|(text, tag)| {
            let buffer = match has_payload {
                true => Buffer::in_place(text),
                false => Buffer::read_only(&*text),
            };
            let mut op = Op::new(session, buffer);
            if session.iv_len() > 0 {
                op = op.iv(&PUBLIC[..session.iv_len()]);
            }
            if matches!(spec.algorithm, Algorithm::Aead(_)) {
                op = op.aad(&PUBLIC[..AAD]);
            }
            match (session.tag_len(), session.direction()) {
                (0, _) => op,
                (_, Direction::Forward) => op.tag(tag),
                (_, Direction::Reverse) => op.expected_tag(tag),
            }
        })
        .collect();
    let before = clock.raw();
    let _counted_by_status = queue.process(&mut ops);
    let after = clock.raw();
    (
        after.saturating_sub(before),
        std::array::from_fn(|i| ops[i].status()),
    )
}

fn expect(statuses: &[Status], expected: Status) -> Result<(), Failure> {
    match statuses.iter().find(|status| **status != expected) {
        None => Ok(()),
        Some(other) => Err(Failure::Failed(format!(
            "an operation ended with {}, not {}",
            other.name(),
            expected.name()
        ))),
    }
}

fn bytes(random: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill(&mut bytes);
    bytes
}
