//! From components to the kernels' keys.

use lanelock_core::Hash;
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::rsa::{
    KeyError as Why, PrivateComponents, PrivateKey, PublicComponents, PublicKey,
};
use lanelock_kernels::taint::declassify;
use lanelock_public_key::{
    Key, KeyError, KeyTransform, PublicParts, RsaCrt, RsaPublic, RsaSecret, SecretParts,
};

use super::exponent;
use super::hasher::Hasher;

/// The public key of a transform.
pub(super) fn public<const N: usize>(transform: &KeyTransform) -> Result<PublicKey<N>, KeyError> {
    let Key::Public(key) = transform.key() else {
        return Err(mismatch(transform));
    };
    let PublicParts::Rsa(rsa) = key.parts() else {
        return Err(mismatch(transform));
    };
    PublicKey::new(components(rsa)).map_err(|why| refusal(transform, why))
}

/// The secret key of a transform.
pub(super) fn private<const P: usize, const N: usize>(
    transform: &KeyTransform,
) -> Result<PrivateKey<P, N>, KeyError> {
    let rsa = secret(transform)?;
    let Some(RsaCrt { p, q, dp, dq, qinv }) = &rsa.crt else {
        let why = "no lanes for keys without the factors of their modulus";
        return Err(KeyError::unsupported(transform.spec(), why));
    };
    let key = PrivateKey::new(PrivateComponents {
        public: components(&rsa.public),
        primes: [p, q],
        exponents: [dp, dq],
        coefficient: qinv,
    });
    let key = key.map_err(|why| refusal(transform, why))?;
    // The kernels never see d; that it is the exponent which dp and dq are of is checked here.
    if [(p, dp), (q, dq)].iter().any(|(prime, remainder)| {
        !declassify(exponent::has_remainder::<P>(&rsa.d, prime, remainder))
    }) {
        let why = "dp or dq is not the remainder of the private exponent";
        return Err(KeyError::refused(transform.spec().kind, why));
    }
    Ok(key)
}

/// The numbers of a transform's secret key.
pub(super) fn secret(transform: &KeyTransform) -> Result<&RsaSecret, KeyError> {
    match transform.key() {
        Key::Secret(key) => match key.parts() {
            SecretParts::Rsa(rsa) => Ok(rsa),
            _ => Err(mismatch(transform)),
        },
        _ => Err(mismatch(transform)),
    }
}

/// A scheme's hash, if the kernels have it.
pub(super) fn hasher(
    machine: Machine,
    transform: &KeyTransform,
    hash: Hash,
) -> Result<Hasher, KeyError> {
    Hasher::new(machine, hash)
        .ok_or_else(|| KeyError::unsupported(transform.spec(), format!("no lanes for {hash:?}")))
}

/// A transform whose scheme is none of RSA's: it has no row.
pub(super) fn mismatch(transform: &KeyTransform) -> KeyError {
    KeyError::Mismatch {
        what: transform.spec().to_string(),
        why: "its key or scheme is of another form".to_owned(),
    }
}

fn components(rsa: &RsaPublic) -> PublicComponents<'_> {
    PublicComponents {
        modulus: &rsa.n,
        exponent: &rsa.e,
    }
}

/// What the kernels refuse is no key, but for sizes that others serve.
fn refusal(transform: &KeyTransform, why: Why) -> KeyError {
    match why {
        Why::PublicExponent | Why::PrimeSize | Why::ModulusSize => {
            KeyError::unsupported(transform.spec(), format!("no lanes for it: {why}"))
        }
        _ => KeyError::refused(transform.spec().kind, why.to_string()),
    }
}
