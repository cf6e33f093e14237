//! Names of algorithms, as the command line, the reports and the vectors write them.
//!
//! A name is a family with its key length in bits (`aes-128-cbc`, `aes-256-xts`, `hmac-sha1`), or
//! a chain of two in the order in which they protect a message: `aes-128-cbc+hmac-sha1` encrypts,
//! then authenticates; `hmac-sha1+aes-128-cbc` authenticates, then encrypts.

use std::fmt;
use std::str::FromStr;

use super::{Algorithm, Mac, Order};

/// An algorithm family together with its key lengths: what a name stands for.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::algorithm::Spec;
///
/// let spec: Spec = "aes-256-gcm".parse()?;
/// assert_eq!(spec.key_len, 32);
/// assert_eq!(spec.to_string(), "aes-256-gcm");
/// # Ok::<(), lanelock::algorithm::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Spec {
    /// The family.
    pub algorithm: Algorithm,
    /// Key length of the cipher, AEAD or MAC, in bytes; for HMAC the recommended one, its digest's, for
    /// KMAC that of its strength.
    pub key_len: usize,
    /// Key length of a chain's MAC, in bytes; 0 elsewhere.
    pub mac_key_len: usize,
}

/// A name that does not stand for an algorithm.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::algorithm::{Spec, UnknownAlgorithm};
///
/// let unknown = "rot13".parse::<Spec>();
/// assert_eq!(unknown, Err(UnknownAlgorithm("rot13".to_owned())));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownAlgorithm(pub String);

impl Spec {
    /// Every named algorithm except chains.
    #[must_use]
    pub fn singles() -> Vec<Self> {
        Algorithm::families()
            .flat_map(|algorithm| {
                key_lens(algorithm)
                    .into_iter()
                    .map(move |key_len| Self::new(algorithm, key_len))
            })
            .collect()
    }

    /// Every chain, in both orders.
    #[must_use]
    pub fn chains() -> Vec<Self> {
        let singles = Self::singles();
        let mut chains = Vec::new();
        for order in [Order::EncryptThenMac, Order::MacThenEncrypt] {
            for cipher in &singles {
                for mac in &singles {
                    if let (Algorithm::Cipher(c), Algorithm::Mac(m)) =
                        (cipher.algorithm, mac.algorithm)
                        && m.chains()
                    {
                        chains.push(Self {
                            algorithm: Algorithm::Chain(order, c, m),
                            key_len: cipher.key_len,
                            mac_key_len: mac.key_len,
                        });
                    }
                }
            }
        }
        chains
    }

    /// The name without its key length: what an error about a wrong one calls the algorithm.
    pub(crate) fn family(&self) -> String {
        name(self.algorithm, None, self.mac_key_len)
    }

    const fn new(algorithm: Algorithm, key_len: usize) -> Self {
        Self {
            algorithm,
            key_len,
            mac_key_len: 0,
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self.algorithm, Some(self.key_len), self.mac_key_len))
    }
}

impl FromStr for Spec {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let single = |part: &str| {
            Self::singles()
                .into_iter()
                .find(|spec| spec.to_string() == part)
                .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
        };
        let Some((first, second)) = name.split_once('+') else {
            return single(name);
        };
        let (first, second) = (single(first)?, single(second)?);
        let (order, cipher, mac) = match (first.algorithm, second.algorithm) {
            (Algorithm::Cipher(_), _) => (Order::EncryptThenMac, first, second),
            _ => (Order::MacThenEncrypt, second, first),
        };
        match (cipher.algorithm, mac.algorithm) {
            (Algorithm::Cipher(c), Algorithm::Mac(m)) if m.chains() => Ok(Self {
                algorithm: Algorithm::Chain(order, c, m),
                key_len: cipher.key_len,
                mac_key_len: mac.key_len,
            }),
            _ => Err(UnknownAlgorithm(name.to_owned())),
        }
    }
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown algorithm '{}': names look like aes-128-cbc, hmac-sha256, aes-256-gcm, or \
             aes-128-cbc+hmac-sha1 for a chain; `lanelock engines` lists them",
            self.0
        )
    }
}

impl std::error::Error for UnknownAlgorithm {}

/// HMAC and KMAC take keys of any length; the named form of HMAC has the one RFC 2104 recommends, that
/// of KMAC its strength (SP 800-185, section 8.4.1).
fn key_lens(algorithm: Algorithm) -> Vec<usize> {
    match algorithm {
        Algorithm::Mac(Mac::Hmac(hash)) => vec![hash.digest_len()],
        Algorithm::Mac(Mac::Kmac128) => vec![16],
        Algorithm::Mac(Mac::Kmac256) => vec![32],
        _ => algorithm.row().key.iter().collect(),
    }
}

/// The name of an algorithm with a key of `key_len` bytes, or of its family.
fn name(algorithm: Algorithm, key_len: Option<usize>, mac_key_len: usize) -> String {
    let row = algorithm.row();
    let first = key_len.map_or(row.name, |len| row.member(len));
    let Algorithm::Chain(order, _, mac) = algorithm else {
        return first.to_owned();
    };
    let mac = Algorithm::Mac(mac).row().member(mac_key_len);
    match order {
        Order::EncryptThenMac => format!("{first}+{mac}"),
        Order::MacThenEncrypt => format!("{mac}+{first}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back_to_its_spec() {
        for spec in Spec::singles().into_iter().chain(Spec::chains()) {
            assert_eq!(spec.to_string().parse(), Ok(spec), "{spec}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Spec::singles()
            .iter()
            .chain(&Spec::chains())
            .map(ToString::to_string)
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_order_of_a_chain_is_the_order_of_its_name() {
        let spec: Spec = "hmac-sha1+aes-128-cbc".parse().unwrap();
        assert!(matches!(
            spec.algorithm,
            Algorithm::Chain(Order::MacThenEncrypt, ..)
        ));
        assert_eq!((spec.key_len, spec.mac_key_len), (16, 20));
        assert!("aes-128-cbc+aes-128-cbc".parse::<Spec>().is_err());
        assert!("aes-128-cbc+poly1305".parse::<Spec>().is_err());
        assert!("aes-129-cbc".parse::<Spec>().is_err());
    }
}
