//! AWS-LC, through its crate.

use std::hint::black_box;

use aws_lc_rs::kem::{
    Algorithm, AlgorithmId, DecapsulationKey, EncapsulationKey, ML_KEM_512, ML_KEM_768, ML_KEM_1024,
};
use lanelock::public_key::MlKem;

use super::{Contestant, Result};

pub struct AwsLc {
    algorithm: &'static Algorithm<AlgorithmId>,
    key: DecapsulationKey<AlgorithmId>,
    public: EncapsulationKey<AlgorithmId>,
    ciphertext: Vec<u8>,
}

impl AwsLc {
    pub fn new(set: MlKem) -> Result<Self> {
        let algorithm = match set {
            MlKem::MlKem512 => &ML_KEM_512,
            MlKem::MlKem768 => &ML_KEM_768,
            _ => &ML_KEM_1024,
        };
        let key = DecapsulationKey::generate(algorithm)?;
        let public = key.encapsulation_key()?;
        let ciphertext = public.encapsulate()?.0.as_ref().to_vec();
        Ok(Self {
            algorithm,
            key,
            public,
            ciphertext,
        })
    }
}

impl Contestant for AwsLc {
    fn name(&self) -> String {
        "AWS-LC".to_owned()
    }

    fn batch(&self) -> usize {
        1
    }

    fn public_key(&self) -> Vec<u8> {
        let bytes = self.public.key_bytes().expect("a key of ML-KEM has bytes");
        bytes.as_ref().to_vec()
    }

    fn encapsulate_to(&mut self, public: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let (ciphertext, secret) = EncapsulationKey::new(self.algorithm, public)?.encapsulate()?;
        Ok((ciphertext.as_ref().to_vec(), secret.as_ref().to_vec()))
    }

    fn decapsulate_one(&mut self, ciphertext: &[u8]) -> Result<Vec<u8>> {
        Ok(self.key.decapsulate(ciphertext.into())?.as_ref().to_vec())
    }

    fn generate(&mut self) -> Result<()> {
        let key = DecapsulationKey::generate(self.algorithm)?;
        black_box(key.encapsulation_key()?);
        Ok(())
    }

    fn encapsulate(&mut self) -> Result<()> {
        black_box(self.public.encapsulate()?);
        Ok(())
    }

    fn decapsulate(&mut self) -> Result<()> {
        black_box(self.key.decapsulate(self.ciphertext[..].into())?);
        Ok(())
    }
}
