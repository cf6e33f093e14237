//! libcrux, which reads keys in each operation.

use std::hint::black_box;

use lanelock::public_key::MlKem;
use libcrux_ml_kem::{mlkem512, mlkem768, mlkem1024};

use super::{Contestant, Result};

pub fn contestant(set: MlKem) -> Result<Box<dyn Contestant>> {
    Ok(match set {
        MlKem::MlKem512 => Box::new(Libcrux512::new()?),
        MlKem::MlKem768 => Box::new(Libcrux768::new()?),
        _ => Box::new(Libcrux1024::new()?),
    })
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Sets are modules of the same functions, without a trait.
macro_rules! of_set {
    ($name:ident, $set:ident, $pair:ident, $public:ident, $ciphertext:ident) => {
        struct $name {
            pair: $set::$pair,
            ciphertext: $set::$ciphertext,
        }

        impl $name {
            fn new() -> Result<Self> {
                let pair = $set::generate_key_pair(random()?);
                let (ciphertext, _) = $set::encapsulate(pair.public_key(), random()?);
                Ok(Self { pair, ciphertext })
            }
        }

        impl Contestant for $name {
            fn name(&self) -> String {
                "libcrux".to_owned()
            }

            fn batch(&self) -> usize {
                1
            }

            fn public_key(&self) -> Vec<u8> {
                self.pair.public_key().as_ref().to_vec()
            }

            fn encapsulate_to(&mut self, public: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
                let public = $set::$public::try_from(public).map_err(|_| "length of a key")?;
                let (ciphertext, secret) = $set::encapsulate(&public, random()?);
                Ok((ciphertext.as_ref().to_vec(), secret.to_vec()))
            }

            fn decapsulate_one(&mut self, ciphertext: &[u8]) -> Result<Vec<u8>> {
                let ciphertext = $set::$ciphertext::try_from(ciphertext)
                    .map_err(|_| "length of a ciphertext")?;
                Ok($set::decapsulate(self.pair.private_key(), &ciphertext).to_vec())
            }

            fn generate(&mut self) -> Result<()> {
                black_box($set::generate_key_pair(random()?));
                Ok(())
            }

            fn encapsulate(&mut self) -> Result<()> {
                black_box($set::encapsulate(self.pair.public_key(), random()?));
                Ok(())
            }

            fn decapsulate(&mut self) -> Result<()> {
                black_box($set::decapsulate(self.pair.private_key(), &self.ciphertext));
                Ok(())
            }
        }
    };
}

of_set!(
    Libcrux512,
    mlkem512,
    MlKem512KeyPair,
    MlKem512PublicKey,
    MlKem512Ciphertext
);
of_set!(
    Libcrux768,
    mlkem768,
    MlKem768KeyPair,
    MlKem768PublicKey,
    MlKem768Ciphertext
);
of_set!(
    Libcrux1024,
    mlkem1024,
    MlKem1024KeyPair,
    MlKem1024PublicKey,
    MlKem1024Ciphertext
);
