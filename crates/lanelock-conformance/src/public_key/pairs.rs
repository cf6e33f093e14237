//! Pairs of keys that an engine makes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanelock_core::Device;
use lanelock_public_key::{KeyDevice, KeyError, KeyKind, KeyTransform, PublicKey, SecretKey};

use super::message::{KeyMessage, Observed};
use super::random::run;

pub(super) type Pair = (SecretKey, PublicKey);

/// By engine and kind.
type Made = BTreeMap<(String, KeyKind), Arc<[Pair]>>;

/// A few pairs of `kind` from engine `reference`: the same ones whenever this process asks, for three
/// keys of RSA-4096 take seconds to make.
pub(super) fn pairs(
    device: &Device,
    reference: &str,
    kind: KeyKind,
) -> Result<Arc<[Pair]>, KeyError> {
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    // Locked while they are made, so that tests that want the same ones wait for them.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = (reference.to_owned(), kind);
    if let Some(pairs) = made.get(&name) {
        return Ok(pairs.clone());
    }
    let pairs = (0..KEYS).map(|_| pair(device, reference, kind));
    let pairs: Arc<[Pair]> = pairs.collect::<Result<_, _>>()?;
    made.insert(name, pairs.clone());
    Ok(pairs)
}

fn pair(device: &Device, reference: &str, kind: KeyKind) -> Result<Pair, KeyError> {
    let generate = KeyMessage::new(KeyTransform::generate(kind), Vec::new());
    let made = run(device, reference, &generate)?;
    parts(device, kind, &made).map_err(|why| KeyError::Container { why })
}

/// A generated pair, in the forms that engines write.
pub(super) fn parts(device: &Device, kind: KeyKind, made: &Observed) -> Result<Pair, String> {
    let (secret, public) = (&made.output, &made.second);
    let pair = || {
        Ok(match kind {
            KeyKind::Ec(curve) => (
                SecretKey::ec(curve, secret, Some(public))?,
                PublicKey::ec(curve, public)?,
            ),
            KeyKind::Rsa(_) | KeyKind::Dh(_) => (
                device.read_secret_key(secret, None)?,
                device.read_public_key(public)?,
            ),
            _ => (SecretKey::raw(kind, secret)?, PublicKey::raw(kind, public)?),
        })
    };
    pair().map_err(|error: KeyError| error.to_string())
}

const KEYS: usize = 3;
