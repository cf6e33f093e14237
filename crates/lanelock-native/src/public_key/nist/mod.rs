//! ECDSA and ECDH on P-256 and P-384.

mod agree;
mod key;
mod sign;
mod verify;

use std::sync::OnceLock;

use lanelock_core::Hash;
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{self, Sha256, Sha384};
use lanelock_kernels::public_key::nist::{self, Kernels, P256, P384};
use lanelock_public_key::{KeyKind, Operation, SignatureScheme};

use super::Row;
use agree::{Derive, Generate};
use sign::Signer;
use verify::Verifier;

pub(super) const P256_ROWS: &[Row] = &rows::<P256>();
pub(super) const P384_ROWS: &[Row] = &rows::<P384>();

/// Bytes of the longest number.
const MAX_BYTES: usize = 48;

/// A curve with what the core calls it.
trait Curve: nist::Curve {
    const CURVE: lanelock_public_key::Curve;
    /// What its nonces are drawn with; of its strength.
    type Hash: hash::Algorithm;
    /// A usual hash of its messages.
    const USUAL: Hash;

    /// The place of its kernels.
    fn place() -> &'static OnceLock<&'static Kernels<Self>>;
}

impl Curve for P256 {
    const CURVE: lanelock_public_key::Curve = lanelock_public_key::Curve::P256;
    type Hash = Sha256;
    const USUAL: Hash = Hash::Sha256;

    fn place() -> &'static OnceLock<&'static Kernels<Self>> {
        static PLACE: OnceLock<&Kernels<P256>> = OnceLock::new();
        &PLACE
    }
}

impl Curve for P384 {
    const CURVE: lanelock_public_key::Curve = lanelock_public_key::Curve::P384;
    type Hash = Sha384;
    const USUAL: Hash = Hash::Sha256;

    fn place() -> &'static OnceLock<&'static Kernels<Self>> {
        static PLACE: OnceLock<&Kernels<P384>> = OnceLock::new();
        &PLACE
    }
}

/// The kernels of a curve, with tables that the process computes once and keeps.
fn kernels<C: Curve>(machine: Machine) -> &'static Kernels<C> {
    C::place().get_or_init(|| Kernels::new_in(Box::leak(Box::new_uninit()), machine))
}

const fn rows<C: Curve>() -> [Row; 4] {
    let kind = KeyKind::Ec(C::CURVE);
    let scheme = SignatureScheme::Ecdsa(C::USUAL);
    [
        Row::signature(Operation::Sign, kind, scheme, Signer::<C>::open),
        Row::signature(Operation::Verify, kind, scheme, Verifier::<C>::open),
        Row::plain(Operation::Derive, kind, Derive::<C>::open),
        Row::plain(Operation::Generate, kind, Generate::<C>::open),
    ]
}
