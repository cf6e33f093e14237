//! Secrets made for a peer and recovered from its reply: both parts in one batch inside of a job, one
//! after the other elsewhere.

use lanelock::public_key::{KeyJob, KeyKind, KeyOp, KeySession, KeyTransform, SecretKey};
use zeroize::Zeroizing;

use super::{HybridKey, Parts, Refused, curve, open, wrong_form};
use crate::algorithms::Algorithm;
use crate::batch::{self, Bytes, NoResult};
use crate::direct;
use crate::ffi::boundary::Reason;
use crate::key::Use;
use crate::spare::{self, Pair};

/// Inside a job, makes a secret for the owner of `key`: the reply to its share, and the secret.
///
/// # Errors
/// As [`batch::run`]; also if a part is refused.
pub(crate) fn encapsulate_in_lanes(key: &HybridKey) -> Result<(Bytes, Bytes), NoResult> {
    let (group, provider) = (key.group, key.provider());
    if !provider.can_join(Algorithm::MlKem) {
        return Err(NoResult::Delegate);
    }
    let mut point = Vec::new();
    let make = || {
        let public = key.public()?;
        let parts = group.split_share(&public.share)?;
        let kem = encapsulation(public.session(group).ok()?);
        let Some(kind) = group.curve else {
            return Some((kem, None));
        };
        let own = spare::take(kind)?;
        let agreement = agreement(&own, parts.curve)?;
        point = own.public;
        Some((kem, Some(agreement)))
    };
    let (kem, agreed) = batch::run_both(provider.config.deadline, make)?;
    let reply = Parts {
        ml_kem: kem.result(),
        curve: &point,
    };
    let secret = Parts {
        ml_kem: kem.second_result(),
        curve: agreed.as_ref().map_or(&[], KeyJob::result),
    };
    Ok((group.join(reply), group.join(secret)))
}

/// As [`encapsulate_in_lanes`], for a key that is held here, at once.
///
/// # Errors
/// The key has no share, its point is not on the curve or has a small order, or the system or the
/// default provider refuses something.
pub(crate) fn encapsulate_alone(key: &HybridKey) -> Result<(Bytes, Bytes), Refused> {
    let (group, provider) = (key.group, key.provider());
    let public = key.public().ok_or_else(|| without(key, "share"))?;
    let parts = group.split_share(&public.share);
    let parts =
        parts.ok_or_else(|| wrong_form(group, "share", &public.share, group.share_len()))?;
    let (point, agreed) = match group.curve {
        Some(kind) => {
            let own = curve::generate(provider, kind);
            let own = own.ok_or_else(|| failed(key, "no key for the exchange was generated"))?;
            let point = own.public_bytes();
            let point = point.ok_or_else(|| failed(key, "a generated key has no public half"))?;
            let agreed = curve::derive(provider, kind, &own, parts.curve);
            (point, agreed.ok_or_else(|| wrong_point(key, "share"))?)
        }
        None => Default::default(),
    };
    let session = public.session(group)?;
    let mut ciphertext = vec![0; session.output_len(0)];
    let mut secret = Zeroizing::new(vec![0; session.second_output_len()]);
    let op = KeyOp::encapsulate(session, &mut ciphertext, &mut secret);
    if !direct::process(&mut [op]) {
        return Err(failed(key, "ML-KEM could not encapsulate"));
    }
    let (reply, secret) = (
        Parts {
            ml_kem: &ciphertext,
            curve: &point,
        },
        Parts {
            ml_kem: &secret,
            curve: &agreed,
        },
    );
    Ok((group.join(reply), group.join(secret)))
}

/// Inside a job, the secret that `reply` carries.
///
/// # Errors
/// As [`encapsulate_in_lanes`].
pub(crate) fn decapsulate_in_lanes(key: &HybridKey, reply: &[u8]) -> Result<Bytes, NoResult> {
    let (group, provider) = (key.group, key.provider());
    if !provider.can_join(Algorithm::MlKem) {
        return Err(NoResult::Delegate);
    }
    let make = || {
        let secret = key.secret()?;
        let parts = group.split_reply(reply)?;
        let kem = decapsulation(secret.session(group).ok()?, parts.ml_kem);
        let Some(curve) = &secret.curve else {
            return Some((kem, None));
        };
        let agreement = derivation(&curve.session(Use::Derive)?, parts.curve);
        Some((kem, Some(agreement)))
    };
    let (kem, agreed) = batch::run_both(provider.config.deadline, make)?;
    Ok(group.join(Parts {
        ml_kem: kem.result(),
        curve: agreed.as_ref().map_or(&[], KeyJob::result),
    }))
}

/// As [`decapsulate_in_lanes`], for a key that is held here, at once. A modified ciphertext of ML-KEM
/// gives another secret and no error (FIPS 203, section 6.3).
///
/// # Errors
/// The key has no secret half, the reply another length, its point is not on the curve or has a small
/// order, or the system or the default provider refuses something.
pub(crate) fn decapsulate_alone(key: &HybridKey, reply: &[u8]) -> Result<Bytes, Refused> {
    let group = key.group;
    let secret = key.secret().ok_or_else(|| without(key, "secret half"))?;
    let parts = group.split_reply(reply);
    let parts = parts.ok_or_else(|| wrong_form(group, "reply", reply, group.reply_len()))?;
    let agreed = match (group.curve, &secret.curve) {
        (Some(kind), Some(own)) => curve::derive(key.provider(), kind, own, parts.curve)
            .ok_or_else(|| wrong_point(key, "reply"))?,
        _ => Bytes::default(),
    };
    let session = secret.session(group)?;
    let mut shared = Zeroizing::new(vec![0; session.output_len(parts.ml_kem.len())]);
    let op = KeyOp::decapsulate(session, parts.ml_kem, &mut shared);
    if !direct::process(&mut [op]) {
        return Err(failed(key, "ML-KEM could not decapsulate"));
    }
    Ok(group.join(Parts {
        ml_kem: &shared,
        curve: &agreed,
    }))
}

fn encapsulation(session: &KeySession) -> KeyJob<Bytes> {
    let ciphertext = Zeroizing::new(vec![0; session.output_len(0)]);
    let secret = Zeroizing::new(vec![0; session.second_output_len()]);
    KeyJob::encapsulate(session, ciphertext, secret)
}

fn decapsulation(session: &KeySession, ciphertext: &[u8]) -> KeyJob<Bytes> {
    let secret = Zeroizing::new(vec![0; session.output_len(ciphertext.len())]);
    KeyJob::decapsulate(session, Zeroizing::new(ciphertext.to_vec()), secret)
}

/// The exchange of a pair that is for this one alone; `None` if there are no lanes for it.
fn agreement(own: &Pair, point: &[u8]) -> Option<KeyJob<Bytes>> {
    let session = open(|| {
        let secret = match own.kind {
            KeyKind::Ec(curve) => SecretKey::ec(curve, &own.secret, None)?,
            kind => SecretKey::raw(kind, &own.secret)?,
        };
        Ok(KeyTransform::derive(&secret))
    });
    Some(derivation(&session.ok()?, point))
}

fn derivation(session: &KeySession, point: &[u8]) -> KeyJob<Bytes> {
    let secret = Zeroizing::new(vec![0; session.output_len(point.len())]);
    KeyJob::derive(session, Zeroizing::new(point.to_vec()), secret)
}

fn wrong_point(key: &HybridKey, what: &str) -> Refused {
    let (name, curve) = (key.group.as_str(), key.group.curve_name());
    let message =
        format!("{name}: the {curve} part of the {what} is not on the curve, or of small order");
    Refused(Reason::InvalidKey, message)
}

fn without(key: &HybridKey, half: &str) -> Refused {
    let message = format!("{}: the key has no {half}", key.group.as_str());
    Refused(Reason::MissingKey, message)
}

fn failed(key: &HybridKey, why: &str) -> Refused {
    Refused(Reason::Failed, format!("{}: {why}", key.group.as_str()))
}
