//! Key agreement and encapsulation.

use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::{Key, KeyKind, KeyReason, SecretParts};

use zeroize::{Zeroize, Zeroizing};

use super::import;
use super::session::Recipe;
use super::subgroup::Subgroup;
use crate::ffi::{Failed, KeyParams, PKey, PKeyContext};

/// ECDH, X25519, X448 and Diffie-Hellman with one secret key.
pub(super) struct Agreement {
    context: PKeyContext,
    /// A key of the same group, whose value each operation replaces.
    peer: PKey,
    /// Whether peers are points.
    points: bool,
    /// Diffie-Hellman: where peers have to be, if the group's order is known.
    subgroup: Option<Subgroup>,
    /// Where the secret is written first: libcrypto writes one that it then finds to be zero.
    secret: Zeroizing<Vec<u8>>,
}

pub(super) struct Encapsulator {
    context: PKeyContext,
}

pub(super) struct Decapsulator {
    context: PKeyContext,
}

impl Agreement {
    pub(super) fn new(recipe: &Recipe) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let Key::Secret(secret) = recipe.transform.key() else {
            return Err(Failed::MISUSE);
        };
        let own = import::public_of(library, secret).map_err(|_| Failed::MISUSE)?;
        let settings = match secret.kind() {
            KeyKind::Dh(_) => KeyParams::new().number(c"pad", 1),
            _ => KeyParams::new(),
        };
        let key = import::key(library, recipe.transform.key())?;
        let subgroup = match secret.parts() {
            SecretParts::Exponent(group, _) => subgroup(&key, &group.p)?,
            _ => None,
        };
        Ok(Self {
            context: PKeyContext::deriver(library, &key, settings)?,
            peer: import::key(library, &Key::Public(own))?,
            points: matches!(secret.kind(), KeyKind::Ec(_)),
            subgroup,
            secret: Zeroizing::new(vec![0; recipe.transform.output_len(0)]),
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        // The setter also reads the hybrid form, which SEC 1 does not have.
        if self.points && !matches!(op.input(), [2..=4, ..]) {
            return Err(KeyReason::InvalidPeer);
        }
        // The setter decodes and checks: that a point is on its curve, whose order is prime, or
        // that a number is from 2 to p − 2. A point of X25519 or X448 may be of small order, which
        // ends as a shared secret of zero; a number may be, too, and ends as any other.
        let set = self.peer.set_public(op.input());
        set.map_err(|_| KeyReason::InvalidPeer)?;
        if let Some(subgroup) = &mut self.subgroup
            && !subgroup.contains(op.input())?
        {
            return Err(KeyReason::InvalidPeer);
        }
        self.context
            .set_peer(&self.peer)
            .map_err(|_| KeyReason::InvalidPeer)?;
        let derived = self.context.derive(&mut self.secret);
        let len = derived.map_err(|_| KeyReason::ZeroSharedSecret)?;
        op.output()[..len].copy_from_slice(&self.secret[..len]);
        self.secret[..].zeroize();
        op.succeed(len);
        Ok(())
    }
}

/// The subgroup of a Diffie-Hellman key, if its order was given or libcrypto knows the group.
fn subgroup(key: &PKey, p: &[u8]) -> Result<Option<Subgroup>, Failed> {
    let order = key
        .integer(c"q")
        .filter(|q| q.iter().any(|&byte| byte != 0));
    order.map(|q| Subgroup::new(p, &q)).transpose()
}

impl Encapsulator {
    pub(super) fn new(recipe: &Recipe) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let key = import::key(library, recipe.transform.key())?;
        let context = PKeyContext::encapsulator(library, &key)?;
        Ok(Self { context })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let (ciphertext, secret) = op.outputs();
        let (first, second) = self.context.encapsulate(ciphertext, secret)?;
        op.succeed_both(first, second);
        Ok(())
    }
}

impl Decapsulator {
    pub(super) fn new(recipe: &Recipe) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let key = import::key(library, recipe.transform.key())?;
        let context = PKeyContext::decapsulator(library, &key)?;
        Ok(Self { context })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let ciphertext = op.input();
        let len = self.context.decapsulate(ciphertext, op.output())?;
        op.succeed(len);
        Ok(())
    }
}
