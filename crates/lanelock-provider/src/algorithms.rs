//! Which algorithms run in lanes, as the configuration chooses.

use std::str::FromStr;

/// A set of [`Algorithm`]s.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Algorithms(u8);

/// What can be chosen; ML-KEM with the groups of TLS that combine it with a curve. Key generation goes
/// with the exchange that the keys are for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Algorithm {
    Rsa,
    Ecdsa,
    Ed25519,
    Ecdh,
    X25519,
    MlKem,
}

use Algorithm::{Ecdh, Ecdsa, Ed25519, MlKem, Rsa, X25519};

const NAMES: [(&str, Algorithm); 6] = [
    ("rsa", Rsa),
    ("ecdsa", Ecdsa),
    ("ed25519", Ed25519),
    ("ecdh", Ecdh),
    ("x25519", X25519),
    ("ml-kem", MlKem),
];

impl Algorithms {
    pub(crate) const ALL: Self = Self((1 << NAMES.len()) - 1);

    pub(crate) const fn has(self, algorithm: Algorithm) -> bool {
        self.0 & (1 << algorithm as u8) != 0
    }

    /// Whether keys of this name, one of [`crate::default_provider::KEYMGMT`], have a use that is chosen.
    pub(crate) fn has_keys(self, name: &[u8]) -> bool {
        match name {
            b"RSA" | b"RSA-PSS" => self.has(Rsa),
            b"EC" => self.has(Ecdsa) || self.has(Ecdh),
            b"ED25519" => self.has(Ed25519),
            b"X25519" => self.has(X25519),
            _ => false,
        }
    }
}

/// Names in any order, separated by commas or spaces.
impl FromStr for Algorithms {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = || NAMES.map(|(name, _)| name).join(", ");
        let mut set = Self(0);
        let words = text.split([',', ' ', '\t']);
        for word in words.filter(|word| !word.is_empty()) {
            let known = NAMES.iter().find(|(name, _)| *name == word);
            let &(_, algorithm) = known.ok_or_else(|| {
                format!(
                    "algorithms = {text}: unknown name '{word}'; allowed: {}",
                    allowed()
                )
            })?;
            set.0 |= 1 << algorithm as u8;
        }
        if set.0 == 0 {
            return Err(format!(
                "algorithms = {text}: names no algorithm; allowed: {}; to switch all off, use \
                 enabled = no",
                allowed()
            ));
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_separated_by_commas_and_spaces() {
        let parse = |text: &str| text.parse::<Algorithms>();
        assert_eq!(
            parse("rsa, ecdsa ed25519,,ecdh\tx25519 ml-kem"),
            Ok(Algorithms::ALL)
        );
        let two = parse(" x25519,rsa").expect("known");
        assert!(two.has(Rsa) && two.has(X25519));
        assert!(!two.has(Ecdsa) && !two.has(Ed25519) && !two.has(Ecdh));
        for (keys, expected) in [("RSA", true), ("RSA-PSS", true), ("EC", false)] {
            assert_eq!(two.has_keys(keys.as_bytes()), expected, "{keys}");
        }
        assert!(parse("ecdh").expect("known").has_keys(b"EC"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_there_are() {
        for (text, expected) in [
            (
                "rsa,dsa",
                "algorithms = rsa,dsa: unknown name 'dsa'; allowed: rsa, ecdsa, ed25519, ecdh, x25519, ml-kem",
            ),
            ("RSA", "algorithms = RSA: unknown name 'RSA'; allowed: rsa"),
            (" ,", "algorithms =  ,: names no algorithm; allowed: rsa"),
        ] {
            let message = text.parse::<Algorithms>().expect_err("refused");
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
