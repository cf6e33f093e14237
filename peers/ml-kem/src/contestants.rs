//! Who is measured.

use std::error::Error;

use lanelock::public_key::MlKem;

mod aws_lc;
mod libcrux;
mod queue;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An implementation with a key pair of its own. A call of `generate`, `encapsulate` or
/// `decapsulate` does [`Contestant::batch`] operations.
pub trait Contestant {
    fn name(&self) -> String;
    fn batch(&self) -> usize;
    fn public_key(&self) -> Vec<u8>;
    /// A ciphertext to any key, and the secret.
    fn encapsulate_to(&mut self, public: &[u8]) -> Result<(Vec<u8>, Vec<u8>)>;
    /// The secret of a ciphertext to its key.
    fn decapsulate_one(&mut self, ciphertext: &[u8]) -> Result<Vec<u8>>;
    fn generate(&mut self) -> Result<()>;
    fn encapsulate(&mut self) -> Result<()>;
    fn decapsulate(&mut self) -> Result<()>;
}

/// lanelock's engines with eight operations at a time and with one, then the others.
pub fn contestants(set: MlKem) -> Result<Vec<Box<dyn Contestant>>> {
    let device = lanelock::open_public_keys()?;
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for (engine, batch) in [("native", 8), ("native", 1), ("openssl", 1)] {
        match queue::Queue::new(&device, engine, set, batch) {
            Ok(queue) => all.push(Box::new(queue)),
            Err(error) => eprintln!("{engine} is left out: {error}"),
        }
    }
    all.push(libcrux::contestant(set)?);
    all.push(Box::new(aws_lc::AwsLc::new(set)?));
    Ok(all)
}
