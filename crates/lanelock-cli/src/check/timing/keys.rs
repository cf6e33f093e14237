//! Bursts of operations with private keys: with one key and with many, or with inputs that are
//! right and inputs that are not.
//!
//! Key generation and encapsulation draw their secrets themselves, so no class of fixed secrets can
//! be made for them; the secret-taint check covers them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use lanelock::Device;
use lanelock::engine::public_key::PublicKeyEngine;
use lanelock::public_key::{
    EncryptionScheme, FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyParts, KeyQueue, KeySession,
    KeySpec, KeyTransform, MlKem, Operation, PublicKey, Scheme, SecretKey, SecretParts,
    SignatureScheme,
};
use lanelock_native::{Native, Tier};

use super::{Timed, statistics};
use crate::failure::Failure;
use crate::perf::pubkey::work::{Item, pair};

/// What tells the classes apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Difference {
    /// The key: one in all sessions of the fixed class, one for each session of the other.
    Key,
    /// The input: valid in the fixed class, of the other one that implicit rejection has to hide.
    Validity,
}

/// Operations of a class, of which a burst takes some.
const ITEMS: usize = 32;
/// Operations of a burst: all lanes.
const BURST: usize = 8;
/// Bursts of a batch.
const SLOTS: usize = 16;

/// Bursts of one operation.
pub(super) struct KeySubject {
    /// Knows the answers.
    maker: Device,
    device: Device,
    queue: KeyQueue,
    clock: quanta::Clock,
    random: fastrand::Rng,
    /// Of the other class, then of the fixed one.
    classes: [Vec<Item>; 2],
    /// The results of the first batch are compared.
    is_checked: bool,
}

/// What a burst reads and writes beside the item itself, made anew for each: memory that one class
/// kept would be of one class, and its place in the caches a difference.
struct Room {
    session: KeySession,
    input: Vec<u8>,
    output: Vec<u8>,
    second: Vec<u8>,
}

/// Measurements that a cell needs, however long they take: a burst of RSA takes milliseconds.
pub(super) const MEASUREMENTS: u64 = statistics::ENOUGH;

/// Operations that are timed, and what their classes differ in.
pub(super) fn cells(native: &Native, names: &[String]) -> Vec<(KeySpec, Difference)> {
    let Some(engine) = native.public_key() else {
        return Vec::new();
    };
    let rows = engine.capabilities().into_iter().map(|row| row.spec);
    let wanted = |spec: &KeySpec| match names {
        [] => !is_the_same_code(*spec),
        _ => names.contains(&spec.to_string()),
    };
    rows.filter(wanted)
        .flat_map(|spec| Difference::of(spec).iter().map(move |&what| (spec, what)))
        .collect()
}

/// Longer RSA runs the code of 2048 bits with other lengths, for minutes; the paddings of
/// signatures and of OAEP hold no key, and all of them run one private operation.
fn is_the_same_code(spec: KeySpec) -> bool {
    let is_usual = matches!(
        spec.scheme,
        Scheme::Encryption(EncryptionScheme::RsaPkcs1)
            | Scheme::Signature(SignatureScheme::RsaPkcs1(_))
    );
    matches!(spec.kind, KeyKind::Rsa(bits) if bits != 2048 || !is_usual)
}

impl Difference {
    fn of(spec: KeySpec) -> &'static [Self] {
        match (spec.operation, spec.scheme) {
            (Operation::Decrypt, Scheme::Encryption(EncryptionScheme::RsaPkcs1))
            | (Operation::Decapsulate, _) => &[Self::Key, Self::Validity],
            (Operation::Sign | Operation::Derive | Operation::Decrypt, _) => &[Self::Key],
            _ => &[],
        }
    }

    /// The name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Validity => "reject",
        }
    }
}

impl KeySubject {
    /// Makes keys, inputs and sessions. `maker` makes what the engine under test does not.
    ///
    /// # Errors
    /// [`Failure::Failed`] if one cannot be made.
    pub(super) fn new(
        maker: &Device,
        tier: Tier,
        (spec, difference): (KeySpec, Difference),
        seed: u64,
    ) -> Result<Self, Failure> {
        let native = Native::with_tier(tier).map_err(Failure::of)?;
        let device = Device::builder().engine(native).build();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut keys = Keys::new(maker, spec.kind);
        let fixed = keys.next()?;
        let another = keys.next()?;
        let mut classes = [Vec::new(), Vec::new()];
        for index in 0..ITEMS * classes.len() {
            let is_fixed = index % 2 == 1;
            let item = match (difference, spec.kind) {
                (Difference::Validity, _) => {
                    let mut item = Item::with(maker, spec, &fixed)?;
                    if !is_fixed {
                        item =
                            Item::unchecked(item.transform, spoilt(spec, item.input, &mut random));
                    }
                    item
                }
                (Difference::Key, KeyKind::MlKem(set)) if is_fixed => {
                    with_secret_of(maker, spec, set, &fixed, &another)?
                }
                (Difference::Key, KeyKind::MlKem(set)) => {
                    with_secret_of(maker, spec, set, &fixed, &keys.next()?)?
                }
                (Difference::Key, _) if is_fixed => Item::with(maker, spec, &fixed)?,
                (Difference::Key, _) => Item::with(maker, spec, &keys.next()?)?,
            };
            classes[usize::from(is_fixed)].push(item);
        }
        Ok(Self {
            maker: maker.clone(),
            queue: device.key_queue(1, FlushPolicy::default()),
            device,
            clock: quanta::Clock::new(),
            random,
            classes,
            is_checked: false,
        })
    }
}

impl Timed for KeySubject {
    fn batch(&mut self, take: &mut dyn FnMut(bool, u64)) -> Result<(), Failure> {
        for _ in 0..SLOTS {
            let is_fixed = self.random.bool();
            let class = &self.classes[usize::from(is_fixed)];
            let burst: [&Item; BURST] =
                std::array::from_fn(|_| &class[self.random.usize(..class.len())]);
            let rooms = burst.iter().map(|item| Room::of(&self.device, item));
            let mut rooms = rooms.collect::<Result<Vec<_>, _>>()?;
            let mut ops: Vec<_> = rooms.iter_mut().map(Room::op).collect();
            let before = self.clock.raw();
            let summary = self.queue.process(&mut ops);
            let after = self.clock.raw();
            if summary.succeeded != BURST {
                return Err(Failure::Failed(failed(&ops)));
            }
            let written: Vec<_> = ops.iter().map(KeyOp::written).collect();
            if !self.is_checked {
                for ((item, room), written) in burst.iter().zip(&rooms).zip(written) {
                    if !item.is_right(&self.maker, &room.output[..written])? {
                        return Err(Failure::Failed("a result is wrong".to_owned()));
                    }
                }
            }
            take(is_fixed, after.saturating_sub(before));
        }
        self.is_checked = true;
        Ok(())
    }
}

type Pair = (SecretKey, PublicKey);

/// Different keys of one kind. Those of RSA take a quarter of a second to make, and each subject has the
/// same ones.
struct Keys<'m> {
    maker: &'m Device,
    kind: KeyKind,
    /// How many have been handed out.
    used: usize,
}

impl<'m> Keys<'m> {
    fn new(maker: &'m Device, kind: KeyKind) -> Self {
        let used = 0;
        Self { maker, kind, used }
    }

    fn next(&mut self) -> Result<Pair, Failure> {
        static MADE: Mutex<BTreeMap<KeyKind, Vec<Pair>>> = Mutex::new(BTreeMap::new());
        if !matches!(self.kind, KeyKind::Rsa(_)) {
            return pair(self.maker, self.kind);
        }
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made.entry(self.kind).or_default();
        if made.len() == self.used {
            made.push(pair(self.maker, self.kind)?);
        }
        self.used += 1;
        Ok(made[self.used - 1].clone())
    }
}

impl Room {
    fn of(device: &Device, item: &Item) -> Result<Self, Failure> {
        let session = device.key_session(&item.transform).map_err(Failure::of)?;
        Ok(Self {
            input: item.input.clone(),
            output: vec![0; session.output_len(item.input.len())],
            second: vec![0; session.second_output_len()],
            session,
        })
    }

    fn op(&mut self) -> KeyOp<'_> {
        let parts = KeyParts {
            input: &self.input,
            signature: &[],
            output: &mut self.output,
            second: &mut self.second,
        };
        KeyOp::of(&self.session, parts)
    }
}

/// A decapsulation key with the public half of one pair and the secret vector and rejection seed of
/// another, and a ciphertext for the public half. The seed of the matrix is public and its sampling
/// takes as long as it takes (FIPS 203, section 4.2.2), so keys that are compared have to share it.
/// Each such key rejects the ciphertext.
fn with_secret_of(
    maker: &Device,
    spec: KeySpec,
    set: MlKem,
    public: &(SecretKey, PublicKey),
    secret: &(SecretKey, PublicKey),
) -> Result<Item, Failure> {
    let (SecretParts::Raw(public_half), SecretParts::Raw(secret_half)) =
        (public.0.parts(), secret.0.parts())
    else {
        return Err(Failure::Failed(format!("{spec}: a key of another form")));
    };
    // FIPS 203, section 7.1: the vector, the encapsulation key, its hash, the rejection seed.
    let (vector, seed) = (
        set.secret_len() - set.public_len() - 64,
        set.secret_len() - 32,
    );
    let mut key = public_half.clone();
    key[..vector].copy_from_slice(&secret_half[..vector]);
    key[seed..].copy_from_slice(&secret_half[seed..]);
    let key = SecretKey::raw(spec.kind, &key).map_err(Failure::of)?;
    let input = Item::with(maker, spec, public)?.input;
    Ok(Item::unchecked(KeyTransform::decapsulate(&key), input))
}

/// `input` made invalid, in a way that does not show.
fn spoilt(spec: KeySpec, mut input: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    match spec.kind {
        // A number below the modulus; that its padding is right by chance is not to be feared.
        KeyKind::Rsa(_) => {
            random.fill(&mut input);
            input[0] = 0;
        }
        _ => {
            let bit = random.usize(..8 * input.len());
            input[bit / 8] ^= 1 << (bit % 8);
        }
    }
    input
}

fn failed(ops: &[KeyOp<'_>]) -> String {
    let why = ops.iter().find_map(KeyOp::error);
    why.map_or_else(
        || "an operation failed".to_owned(),
        |error| format!("an operation failed: {error}"),
    )
}
