//! Public keys: operations of one algorithm and size in lockstep, each with its own key: of ML-KEM eight,
//! of the others as many as a register has digits.
//!
//! RSA and the curves run in registers of digits. Where a machine multiplies those too slowly to be
//! ahead of OpenSSL there are no such rows, and a device goes on to an engine that runs operations one
//! at a time. ML-KEM runs in registers of words, which every machine has.

mod break_even;
mod digest;
mod ed25519;
mod fork;
mod ml_kem;
mod nist;
mod random;
mod raw;
mod rsa;
mod session;
mod x25519;

use std::mem::discriminant;

use lanelock_kernels::{Digits, Machine};
use lanelock_public_key::engine::{KeyCapability, KeyEngine, KeyEngineSession};
use lanelock_public_key::{
    Curve, KeyError, KeyKind, KeySpec, KeyTransform, MlKem, Operation, Scheme, SignatureScheme,
};

use session::LANES;

/// The public-key half of the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicKeys {
    machine: Machine,
}

/// One operation on one kind of key.
struct Row {
    /// With a usual scheme; others of its family are the same row.
    spec: KeySpec,
    open: Open,
}

/// Prepares a session of the group, or refuses: with [`KeyError::Unsupported`] what another engine
/// may have, with another error what is no key.
type Open = fn(Machine, u32, &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError>;

/// Everything that is offered, from which digits on; another algorithm is a module and its rows.
const ROWS: &[(Digits, &[Row])] = &[
    (Digits::Fma, x25519::ROWS),
    (Digits::Fma, ed25519::ROWS),
    (Digits::Fma, nist::P256_ROWS),
    (Digits::Fma, nist::P384_ROWS),
    (Digits::Fma, rsa::ROWS[0]),
    (Digits::Fma, rsa::ROWS[1]),
    (Digits::Fma, rsa::ROWS[2]),
    (Digits::Plain, &ml_kem::ROWS[0]),
    (Digits::Plain, &ml_kem::ROWS[1]),
    (Digits::Plain, &ml_kem::ROWS[2]),
];

impl PublicKeys {
    /// What `machine` offers.
    pub(crate) fn of(machine: Machine) -> Self {
        Self { machine }
    }

    /// What the sessions of a kind say.
    fn lanes(&self, kind: KeyKind) -> usize {
        match kind {
            KeyKind::MlKem(_) => LANES,
            _ => self.machine.digit_lanes(),
        }
    }

    fn rows(&self) -> impl Iterator<Item = &'static Row> {
        let digits = self.machine.digits();
        let offered = ROWS.iter().filter(move |(least, _)| digits >= *least);
        offered.flat_map(|(_, rows)| *rows)
    }
}

impl KeyEngine for PublicKeys {
    fn capabilities(&self) -> Vec<KeyCapability> {
        self.rows()
            .map(|row| KeyCapability {
                spec: row.spec,
                lanes: self.lanes(row.spec.kind),
            })
            .collect()
    }

    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let spec = transform.spec();
        match self.rows().find(|row| row.serves(spec)) {
            Some(row) => (row.open)(self.machine, group(spec), transform),
            None => Err(KeyError::unsupported(spec, "no lanes for it")),
        }
    }

    fn break_even(&self, spec: KeySpec) -> usize {
        break_even::of(self.machine.digits(), spec)
    }
}

impl Row {
    /// A row of what the kind of key decides alone.
    const fn plain(operation: Operation, kind: KeyKind, open: Open) -> Self {
        let scheme = Scheme::Plain;
        Self {
            spec: KeySpec {
                operation,
                kind,
                scheme,
            },
            open,
        }
    }

    /// A row of a signature scheme, with whatever hash.
    const fn signature(
        operation: Operation,
        kind: KeyKind,
        scheme: SignatureScheme,
        open: Open,
    ) -> Self {
        let scheme = Scheme::Signature(scheme);
        Self {
            spec: KeySpec {
                operation,
                kind,
                scheme,
            },
            open,
        }
    }

    fn serves(&self, spec: KeySpec) -> bool {
        let same_family = match (self.spec.scheme, spec.scheme) {
            (Scheme::Signature(one), Scheme::Signature(other)) => {
                discriminant(&one) == discriminant(&other)
            }
            (Scheme::Encryption(one), Scheme::Encryption(other)) => {
                discriminant(&one) == discriminant(&other)
            }
            (one, other) => one == other,
        };
        self.spec.kind == spec.kind && self.spec.operation == spec.operation && same_family
    }
}

/// The number of a group: one for each kind and operation, whatever scheme and key. All sessions of
/// a group are of one type.
fn group(spec: KeySpec) -> u32 {
    let kind = match spec.kind {
        KeyKind::X25519 => 0,
        KeyKind::Ed25519 => 1,
        KeyKind::Ec(Curve::P256) => 2,
        KeyKind::Ec(Curve::P384) => 3,
        KeyKind::MlKem(MlKem::MlKem512) => 4,
        KeyKind::MlKem(MlKem::MlKem768) => 5,
        KeyKind::MlKem(MlKem::MlKem1024) => 6,
        // From 512 bits on.
        KeyKind::Rsa(bits) => bits,
        other => unreachable!("{other} has no row"),
    };
    let operations = Operation::ALL.iter();
    let operation = (0..).zip(operations).find(|(_, o)| **o == spec.operation);
    kind * 8 + operation.map_or(0, |(number, _)| number)
}
