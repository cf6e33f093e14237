//! Key generation.

use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::{KeyKind, KeyReason};

use super::session::Recipe;
use super::{export, names};
use crate::ffi::{Failed, KeyParams, PKeyContext};

pub(super) struct Generator {
    context: PKeyContext,
    kind: KeyKind,
}

impl Generator {
    pub(super) fn new(recipe: &Recipe) -> Result<Self, Failed> {
        let kind = recipe.transform.spec().kind;
        let none = KeyParams::new();
        let settings = match kind {
            KeyKind::Rsa(bits) => none.number(c"bits", bits),
            KeyKind::Ec(curve) => none.text(c"group", names::curve(curve).ok_or(Failed::MISUSE)?),
            KeyKind::Dh(bits) => none.text(c"group", names::ffdhe(bits).ok_or(Failed::MISUSE)?),
            _ => none,
        };
        let name = names::key_type(kind).ok_or(Failed::MISUSE)?;
        let context = PKeyContext::generator(recipe.catalogue.library(), name, settings)?;
        Ok(Self { context, kind })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let key = self.context.generate()?;
        let (secret_out, public_out) = op.outputs();
        let (secret, public) = match self.kind {
            KeyKind::Ec(curve) => {
                let scalar = key.integer(c"priv").ok_or(KeyReason::Engine)?;
                let start = scalar.len() - curve.field_len();
                let point = export::point(&key).map_err(|_| KeyReason::Engine)?;
                let secret = put(&scalar[start..], secret_out)?;
                (secret, put(&point, public_out)?)
            }
            KeyKind::Rsa(_) | KeyKind::Dh(_) => {
                let secret = put(&key.to_pkcs8()?, secret_out)?;
                (secret, put(&key.to_spki()?, public_out)?)
            }
            _ => {
                let room = secret_out.len().max(public_out.len());
                let octets = |name| key.octets(name, room).ok_or(KeyReason::Engine);
                let secret = put(&octets(c"priv")?, secret_out)?;
                (secret, put(&octets(c"pub")?, public_out)?)
            }
        };
        op.succeed_both(secret, public);
        Ok(())
    }
}

/// Copies `bytes` to the front of `out`; returns their length.
fn put(bytes: &[u8], out: &mut [u8]) -> Result<usize, KeyReason> {
    let room = out.get_mut(..bytes.len()).ok_or(KeyReason::Engine)?;
    room.copy_from_slice(bytes);
    Ok(bytes.len())
}
