//! Secrets made for a peer and recovered from its reply: both parts in one batch inside of a job, one
//! after the other elsewhere.

use lanelock::public_key::{KeyJob, KeyKind, KeyOp, KeySession, KeyTransform, SecretKey};
use zeroize::Zeroizing;

use super::{HybridKey, Parts, Public, Refused, Secret, curve, open, wrong_form};
use crate::algorithms::Algorithm;
use crate::batch::{self, Bytes, NoResult};
use crate::direct;
use crate::ffi::boundary::Reason;
use crate::key::Use;
use crate::spare::{self, Pair};

/// Makes a secret for the owner of `key`: the reply to its share, and the secret.
///
/// # Errors
/// The key has no share, its point is not on the curve or has a small order, or the system or the
/// default provider refuses something.
pub(crate) fn encapsulate(key: &HybridKey) -> Result<(Bytes, Bytes), Refused> {
    let group = key.group;
    let public = key.public.get().ok_or_else(|| without(key, "share"))?;
    let parts = group.split_share(&public.share);
    let parts =
        parts.ok_or_else(|| wrong_form(group, "share", &public.share, group.share_len()))?;
    let session = public.session(group)?;
    if key.provider().can_join(Algorithm::MlKem) {
        let mut point = Vec::new();
        let make = || {
            let own = spare::take(group.curve)?;
            let jobs = [encapsulation(session), agreement(&own, parts.curve)?];
            point = own.public;
            Some(jobs)
        };
        match batch::run_both(key.provider().config.deadline, make) {
            Ok([kem, agreed]) => {
                let (reply, secret) = (
                    Parts {
                        ml_kem: kem.result(),
                        curve: &point,
                    },
                    Parts {
                        ml_kem: kem.second_result(),
                        curve: agreed.result(),
                    },
                );
                return Ok((group.join(reply), group.join(secret)));
            }
            Err(NoResult::Cancelled) => return Err(cancelled(key)),
            Err(NoResult::Delegate) => {}
        }
    }
    encapsulate_alone(key, public, parts)
}

fn encapsulate_alone(
    key: &HybridKey,
    public: &Public,
    parts: Parts<'_>,
) -> Result<(Bytes, Bytes), Refused> {
    let (group, provider) = (key.group, key.provider());
    let own = curve::generate(provider, group.curve);
    let own = own.ok_or_else(|| failed(key, "no key for the exchange could be generated"))?;
    let point = own.public_bytes();
    let point = point.ok_or_else(|| failed(key, "a generated key has no public half"))?;
    let agreed = curve::derive(provider, group.curve, &own, parts.curve);
    let agreed = agreed.ok_or_else(|| wrong_point(key, "share"))?;
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

/// The secret that `reply` carries. A modified ciphertext of ML-KEM gives another secret and no error
/// (FIPS 203, section 6.3).
///
/// # Errors
/// The key has no secret half, the reply another length, its point is not on the curve or has a small
/// order, or the system or the default provider refuses something.
pub(crate) fn decapsulate(key: &HybridKey, reply: &[u8]) -> Result<Bytes, Refused> {
    let group = key.group;
    let secret = key.secret.as_ref();
    let secret = secret.ok_or_else(|| without(key, "secret half"))?;
    let parts = group.split_reply(reply);
    let parts = parts.ok_or_else(|| wrong_form(group, "reply", reply, group.reply_len()))?;
    let session = secret.session(group)?;
    if key.provider().can_join(Algorithm::MlKem) {
        let make = || {
            let agreeing = secret.curve.session(Use::Derive)?;
            let jobs = [
                decapsulation(session, parts.ml_kem),
                derivation(&agreeing, parts.curve),
            ];
            Some(jobs)
        };
        match batch::run_both(key.provider().config.deadline, make) {
            Ok([kem, agreed]) => {
                return Ok(group.join(Parts {
                    ml_kem: kem.result(),
                    curve: agreed.result(),
                }));
            }
            Err(NoResult::Cancelled) => return Err(cancelled(key)),
            Err(NoResult::Delegate) => {}
        }
    }
    decapsulate_alone(key, secret, parts)
}

fn decapsulate_alone(key: &HybridKey, secret: &Secret, parts: Parts<'_>) -> Result<Bytes, Refused> {
    let group = key.group;
    let agreed = curve::derive(key.provider(), group.curve, &secret.curve, parts.curve);
    let agreed = agreed.ok_or_else(|| wrong_point(key, "reply"))?;
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

fn cancelled(key: &HybridKey) -> Refused {
    failed(key, "the connection was closed meanwhile")
}

fn failed(key: &HybridKey, why: &str) -> Refused {
    Refused(Reason::Failed, format!("{}: {why}", key.group.as_str()))
}
