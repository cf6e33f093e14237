//! libcrypto_mb as a contestant: a program of `peers/`, which is sent the keys.

use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use lanelock::Device;
use lanelock::public_key::{
    Curve, Key, KeyKind, Operation, PublicKey, PublicParts, SecretKey, SecretParts, SignatureForm,
};
use lanelock_native::{Digits, Native};
use openssl::bn::BigNum;
use openssl::ecdsa::EcdsaSig;

use super::super::contestant::{Contestant, Lap};
use super::super::peer::{Conversation, field, program};
use super::race::KeyRace;
use super::work::{Item, KeyWork};
use crate::failure::Failure;

/// The program, prepared for one operation at a time.
pub struct CryptoMb {
    library: String,
    child: Conversation,
    prepared: Option<(Rc<KeyWork>, Device, usize)>,
}

impl CryptoMb {
    /// Its name in rows.
    pub const NAME: &str = "crypto-mb";

    /// Where it is.
    ///
    /// # Errors
    /// [`Failure::Usage`] if this CPU cannot run it, or it is not where it is looked for.
    pub fn program() -> Result<std::path::PathBuf, Failure> {
        if Native::digits_of_cpu() != Digits::Ifma {
            let why = "libcrypto_mb needs AVX-512 IFMA, which this CPU does not have; leave it out of --peer";
            return Err(Failure::Usage(format!("{}: {why}", Self::NAME)));
        }
        program(Self::NAME, "build it, as root, with `make peers-newest`")
    }

    /// Starts it.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is not built or this CPU cannot run it, [`Failure::Failed`] if it does not
    /// start.
    pub fn start() -> Result<Self, Failure> {
        let mut child = Conversation::start(Self::NAME, &Self::program()?, 0, None)?;
        let answer = child.ask("hello")?;
        let library = field(&answer, "library");
        Ok(Self {
            library: library.ok_or_else(|| child.unexpected(&answer))?,
            child,
            prepared: None,
        })
    }

    /// Name and version of the library.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Prepares batches of `batch`; says whether it has the operation.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it does not answer as agreed.
    pub fn prepare(
        &mut self,
        race: &KeyRace,
        device: &Device,
        batch: usize,
    ) -> Result<bool, Failure> {
        let KeyRace(work) = race;
        let keys = work.items.len().min(batch);
        let request = format!("prepare algorithm={} batch={batch} keys={keys}", work.name);
        let answer = self.child.ask(&request)?;
        match answer.split(' ').next() {
            Some("ready") => {}
            Some("unsupported") => return Ok(false),
            _ => return Err(self.child.unexpected(&answer)),
        }
        for (index, item) in work.items.iter().take(keys).enumerate() {
            let answer = self
                .child
                .ask(&format!("key index={index}{}", fields(item)?))?;
            if answer != "ready" {
                return Err(self.child.unexpected(&answer));
            }
        }
        self.prepared = Some((work.clone(), device.clone(), keys));
        Ok(true)
    }
}

impl Contestant for CryptoMb {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn digest(&mut self) -> Result<Option<u64>, Failure> {
        let Some((work, device, keys)) = self.prepared.clone() else {
            return Ok(None);
        };
        for (index, item) in work.items.iter().take(keys).enumerate() {
            let answer = self.child.ask(&format!("answer index={index}"))?;
            let bytes = field(&answer, "hex").as_deref().and_then(bytes);
            let bytes = bytes.ok_or_else(|| self.child.unexpected(&answer))?;
            if !item.is_right(&device, &result(item, bytes)?)? {
                let name = &work.name;
                return Err(Failure::Failed(format!(
                    "{}, {name}: a wrong result",
                    Self::NAME
                )));
            }
        }
        Ok(Some(work.digest()))
    }

    fn lap(&mut self, span: Duration) -> Result<Lap, Failure> {
        self.child
            .say(&format!("run seconds={:.6}", span.as_secs_f64()))?;
        self.child.lap()
    }
}

/// What its program needs for an operation, as ` name=hex` for each.
fn fields(item: &Item) -> Result<String, Failure> {
    let mut text = String::new();
    let mut add = |name: &str, bytes: &[u8]| {
        let _ = write!(text, " {name}={}", hex(bytes));
    };
    let spec = item.transform.spec();
    let is_curve = matches!(spec.kind, KeyKind::Ec(_));
    let width = match spec.kind {
        KeyKind::Ec(Curve::P256) => 32,
        KeyKind::Ec(Curve::P384) => 48,
        _ => 0,
    };
    match item.transform.key() {
        Key::Secret(key) => secret(key, &mut add),
        Key::Public(key) => public(key, &mut add),
        Key::None => {}
    }
    match spec.operation {
        // The other side's point, uncompressed.
        Operation::Derive if is_curve => point(&item.input, &mut add),
        Operation::Verify if is_curve => {
            let signature = EcdsaSig::from_der(&item.signature).map_err(Failure::of)?;
            add("r", &padded(&signature.r().to_vec(), width));
            add("s", &padded(&signature.s().to_vec(), width));
        }
        Operation::Verify => {
            let (r, s) = item.signature.split_at(item.signature.len() / 2);
            add("r", r);
            add("s", s);
        }
        _ => {}
    }
    match spec.operation {
        Operation::Derive if is_curve => {}
        // A digest as a number, as long as the curve's order.
        _ => add("in", &padded(&item.input, width)),
    }
    Ok(text)
}

fn secret(key: &SecretKey, add: &mut impl FnMut(&str, &[u8])) {
    match key.parts() {
        SecretParts::Rsa(rsa) => {
            if let Some(crt) = &rsa.crt {
                add("p", &crt.p);
                add("q", &crt.q);
                add("dp", &crt.dp);
                add("dq", &crt.dq);
                add("qinv", &crt.qinv);
            }
        }
        SecretParts::Scalar(bytes) | SecretParts::Raw(bytes) => add("scalar", bytes),
        SecretParts::Exponent(..) => {}
    }
}

fn public(key: &PublicKey, add: &mut impl FnMut(&str, &[u8])) {
    match key.parts() {
        PublicParts::Rsa(rsa) => add("n", &rsa.n),
        PublicParts::Point(bytes) => point(bytes, add),
        PublicParts::Raw(bytes) => add("x", bytes),
        _ => {}
    }
}

/// The coordinates of an uncompressed point (SEC 1, 2.3.3).
fn point(bytes: &[u8], add: &mut impl FnMut(&str, &[u8])) {
    let (x, y) = bytes[1..].split_at(bytes.len() / 2);
    add("x", x);
    add("y", y);
}

/// The result as an engine gives it.
fn result(item: &Item, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let spec = item.transform.spec();
    let is_signature = spec.operation == Operation::Sign && matches!(spec.kind, KeyKind::Ec(_));
    if !is_signature || item.transform.form() != SignatureForm::Der {
        return Ok(bytes);
    }
    let (r, s) = bytes.split_at(bytes.len() / 2);
    let number = |bytes| BigNum::from_slice(bytes).map_err(Failure::of);
    let signature = EcdsaSig::from_private_components(number(r)?, number(s)?);
    signature
        .and_then(|signature| signature.to_der())
        .map_err(Failure::of)
}

/// At least `width` bytes: zeros, then these.
fn padded(bytes: &[u8], width: usize) -> Vec<u8> {
    let mut padded = vec![0; width.saturating_sub(bytes.len())];
    padded.extend_from_slice(bytes);
    padded
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits_are_the_same() {
        assert_eq!(hex(&[0, 0x5a, 255]), "005aff");
        assert_eq!(bytes("005aff"), Some(vec![0, 0x5a, 255]));
        assert_eq!(bytes("0g"), None);
    }

    #[test]
    fn a_point_is_two_coordinates() {
        let mut text = String::new();
        point(&[4, 1, 2, 3, 4], &mut |name, bytes| {
            text.push_str(&format!(" {name}={}", hex(bytes)));
        });
        assert_eq!(text, " x=0102 y=0304");
    }
}
