//! Random operations of everything that an engine offers, against another engine: keys, hashes,
//! forms and lengths drawn from a seed, right and wrong inputs mixed in bursts of any length.

use lanelock_core::{Device, Hash, Status};
use lanelock_public_key::{
    EncryptionScheme, FlushPolicy, KeyDevice, KeyError, KeyKind, KeySpec, KeyTransform, Oaep,
    Operation, Pss, PublicParts, Scheme, SignatureForm, SignatureScheme,
};

use super::KeyFileOutcome;
use super::message::{KeyMessage, Observed, process};
use super::pairs::{Pair, pairs, parts};
use crate::Progress;
use crate::rng::Rng;
use lanelock_public_key::engine::PublicKeyEngine;

/// What is run, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Random<'n> {
    /// Engine under test.
    pub engine: &'n str,
    /// Engine that makes the keys and knows the answers; the tested one's results are compared
    /// with its own, or handed to it.
    pub reference: &'n str,
    /// Bursts of each operation.
    pub bursts: usize,
    /// The same number draws the same operations. Keys and nonces are the engines' own.
    pub seed: u64,
}

const HASHES: [Hash; 4] = [Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512];
/// Longest message.
const MESSAGE: usize = 300;

/// One operation, and when its result is right.
struct Trial {
    message: KeyMessage,
    right: Right,
}

/// Operations of `spec`, with a few keys, that succeed on the engine `reference`; on the first that
/// has them if it does not (ML-KEM before OpenSSL 3.5).
///
/// # Errors
/// What the reference says if it cannot make keys.
pub fn samples(
    device: &Device,
    reference: &str,
    spec: KeySpec,
    count: usize,
) -> Result<Vec<KeyMessage>, KeyError> {
    let reference = device
        .key_session_on(reference, &KeyTransform::generate(spec.kind))
        .or_else(|_| device.key_session(&KeyTransform::generate(spec.kind)))?
        .engine();
    let pairs = pairs(device, reference, spec.kind)?;
    let mut rng = Rng::new(1);
    let mut samples = Vec::new();
    while samples.len() < count {
        let trial = Trial::draw(device, reference, spec, &pairs, &mut rng)?;
        if run(device, reference, &trial.message)?.status == Status::Success {
            samples.push(trial.message);
        }
    }
    Ok(samples)
}

/// When a result is right.
enum Right {
    /// It is the reference's, status and output.
    Same,
    /// The reference, doing this with the output, gets these bytes.
    Undone(Box<KeyTransform>, Vec<u8>),
    /// It is a signature that the reference accepts.
    Accepted(Box<KeyTransform>),
    /// The secret key has the public one that came with it.
    Pair,
}

/// Runs [`Random`]: an outcome for each operation and kind of key.
///
/// # Errors
/// What the reference says if it cannot make keys.
pub fn random(
    device: &Device,
    run: Random<'_>,
    progress: &dyn Progress,
) -> Result<Vec<KeyFileOutcome>, KeyError> {
    let engine = device.engines().find(|engine| engine.name() == run.engine);
    let rows = engine.and_then(|engine| engine.public_key());
    let rows = rows.map(|engine| engine.capabilities()).unwrap_or_default();
    progress.begin("random operations, public keys", rows.len() as u64);
    let mut rng = Rng::new(run.seed);
    let mut outcomes = Vec::new();
    for row in rows {
        let kind = row.spec.kind;
        let generate = KeyTransform::generate(kind);
        if let Err(KeyError::Unsupported { why, .. }) =
            device.key_session_on(run.reference, &generate)
        {
            let mut outcome = KeyFileOutcome {
                name: row.spec.to_string(),
                ..KeyFileOutcome::default()
            };
            outcome.skip(&why);
            progress.advance(1, &outcome.name);
            outcomes.push(outcome);
            continue;
        }
        let pairs = pairs(device, run.reference, kind)?;
        let mut outcome = KeyFileOutcome {
            name: row.spec.to_string(),
            ..KeyFileOutcome::default()
        };
        for _ in 0..run.bursts {
            let count = rng.between(1, 2 * row.lanes);
            let trials = (0..count)
                .map(|_| Trial::draw(device, run.reference, row.spec, &pairs, &mut rng))
                .collect::<Result<Vec<_>, _>>()?;
            judge(device, run, &trials, &mut outcome);
        }
        progress.advance(1, &outcome.name);
        outcomes.push(outcome);
    }
    progress.end();
    Ok(outcomes)
}

/// Runs the trials in one burst and holds each result against what is right.
fn judge(device: &Device, run: Random<'_>, trials: &[Trial], outcome: &mut KeyFileOutcome) {
    let mut offered = Vec::new();
    for trial in trials {
        outcome.tests += 1;
        match device.key_session_on(run.engine, &trial.message.transform) {
            Ok(session) => offered.push((trial, session)),
            Err(KeyError::Unsupported { why, .. }) => outcome.skip(&why),
            Err(error) => outcome.failures.push(trial.told(run, &error.to_string())),
        }
    }
    outcome.operations += offered.len() as u64;
    let burst = offered
        .iter()
        .map(|(trial, session)| (&trial.message, session));
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let observed = process(&mut queue, &burst.collect::<Vec<_>>());
    for ((trial, _), found) in offered.iter().zip(observed) {
        match trial.is_right(device, run.reference, &found) {
            Err(why) => outcome.failures.push(trial.told(run, &why)),
            Ok(()) if found.status == Status::Success => outcome.right += 1,
            Ok(()) => outcome.refused += 1,
        }
    }
}

/// What comes of one operation on `engine`.
pub(super) fn run(
    device: &Device,
    engine: &str,
    message: &KeyMessage,
) -> Result<Observed, KeyError> {
    let session = device.key_session_on(engine, &message.transform)?;
    let mut queue = device.key_queue(1, FlushPolicy::default());
    Ok(process(&mut queue, &[(message, &session)]).remove(0))
}

impl Trial {
    fn new(transform: KeyTransform, input: Vec<u8>, right: Right) -> Self {
        Self {
            message: KeyMessage::new(transform, input),
            right,
        }
    }

    /// An operation of `spec`, its scheme's settings drawn anew.
    fn draw(
        device: &Device,
        reference: &str,
        spec: KeySpec,
        pairs: &[Pair],
        rng: &mut Rng,
    ) -> Result<Self, KeyError> {
        let (secret, public) = rng.pick(pairs);
        let same = |transform, input| Self::new(transform, input, Right::Same);
        Ok(match (spec.operation, spec.scheme) {
            (Operation::Sign | Operation::Verify, Scheme::Signature(scheme)) => {
                let scheme = signature_scheme(scheme, rng);
                let mut sign = KeyTransform::sign(scheme, secret);
                let mut verify = KeyTransform::verify(scheme, public);
                let mut input = rng.bytes_up_to(MESSAGE);
                if let Some(hash) = scheme.hash().filter(|_| rng.one_in(2)) {
                    input = rng.bytes(hash.digest_len());
                    (sign, verify) = (sign.digest(), verify.digest());
                }
                if matches!(spec.kind, KeyKind::Ec(_)) && rng.one_in(2) {
                    let fixed = SignatureForm::Fixed;
                    sign = sign.signature_form(fixed);
                    verify = verify.signature_form(fixed);
                }
                let only_one = matches!(
                    scheme,
                    SignatureScheme::RsaPkcs1(_) | SignatureScheme::EdDsa
                );
                match spec.operation {
                    Operation::Sign if only_one => same(sign, input),
                    Operation::Sign => Self::new(sign, input, Right::Accepted(Box::new(verify))),
                    _ => {
                        let sign = KeyMessage::new(sign, input.clone());
                        let mut signature = run(device, reference, &sign)?.output;
                        match rng.below(4) {
                            0 => rng.spoil(&mut signature),
                            1 => rng.flip(&mut input),
                            _ => {}
                        }
                        let mut trial = same(verify, input);
                        trial.message.signature = signature;
                        trial
                    }
                }
            }
            (Operation::Encrypt | Operation::Decrypt, Scheme::Encryption(scheme)) => {
                let scheme = encryption_scheme(scheme, rng);
                let mut encrypt = KeyTransform::encrypt(scheme, public);
                let mut decrypt = KeyTransform::decrypt(scheme, secret);
                if matches!(scheme, EncryptionScheme::RsaOaep(_)) && rng.one_in(2) {
                    let label = rng.bytes(9);
                    (encrypt, decrypt) = (encrypt.context(&label), decrypt.context(&label));
                }
                let modulus = encrypt.output_len(0);
                let plaintext = match scheme {
                    EncryptionScheme::RsaRaw => {
                        let mut block = rng.bytes(modulus);
                        // Below the modulus, whose first bit is set; sometimes not.
                        block[0] &= if rng.one_in(8) { 0xff } else { 0x7f };
                        block
                    }
                    // OAEP with SHA-512 leaves 2048 bits room for 126 bytes.
                    _ => rng.bytes_up_to(126),
                };
                if spec.operation == Operation::Encrypt {
                    if scheme == EncryptionScheme::RsaRaw {
                        return Ok(same(encrypt, plaintext));
                    }
                    let undone = Right::Undone(Box::new(decrypt), plaintext.clone());
                    return Ok(Self::new(encrypt, plaintext, undone));
                }
                let made = run(device, reference, &KeyMessage::new(encrypt, plaintext))?;
                let mut ciphertext = match made.output {
                    refused if refused.is_empty() => rng.bytes(modulus),
                    made => made,
                };
                if rng.one_in(3) {
                    rng.spoil(&mut ciphertext);
                }
                same(decrypt, ciphertext)
            }
            (Operation::Derive, _) => {
                let (_, peer) = rng.pick(pairs);
                let mut peer = match peer.parts() {
                    PublicParts::Point(bytes)
                    | PublicParts::Raw(bytes)
                    | PublicParts::Dh(_, bytes) => bytes.clone(),
                    _ => Vec::new(),
                };
                if let (KeyKind::Ec(_), true) = (spec.kind, rng.one_in(3)) {
                    // SEC 1, section 2.3.3: the compressed form.
                    let odd = peer.last().map_or(0, |byte| byte & 1);
                    peer.truncate(peer.len() / 2 + 1);
                    peer[0] = 2 | odd;
                }
                if rng.one_in(3) {
                    rng.spoil(&mut peer);
                }
                same(KeyTransform::derive(secret), peer)
            }
            _ => Self::new(KeyTransform::generate(spec.kind), Vec::new(), Right::Pair),
        })
    }

    /// What is wrong with `found`, if anything.
    fn is_right(&self, device: &Device, reference: &str, found: &Observed) -> Result<(), String> {
        let answer = |message: &KeyMessage| {
            run(device, reference, message).map_err(|error| error.to_string())
        };
        let is_right = match &self.right {
            Right::Same => {
                let expected = answer(&self.message)?;
                return match found.result() == expected.result() {
                    true => Ok(()),
                    false => Err(format!("{found:02x?}, {reference} says {expected:02x?}")),
                };
            }
            _ if found.status != Status::Success => return Err(found.status.name().to_owned()),
            Right::Pair => {
                let kind = self.message.transform.spec().kind;
                let (secret, public) = parts(device, kind, found)?;
                let computed = device
                    .public_key(&secret)
                    .map_err(|error| error.to_string())?;
                return match computed.parts() == public.parts() {
                    true => Ok(()),
                    false => Err("the halves of a pair do not belong together".to_owned()),
                };
            }
            Right::Undone(transform, expected) => {
                let message = KeyMessage::new((**transform).clone(), found.output.clone());
                answer(&message)?.output == *expected
            }
            Right::Accepted(transform) => {
                let message = KeyMessage {
                    transform: (**transform).clone(),
                    input: self.message.input.clone(),
                    signature: found.output.clone(),
                };
                answer(&message)?.status == Status::Success
            }
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("{reference} does not accept {:02x?}", found.output)),
        }
    }

    fn told(&self, run: Random<'_>, why: &str) -> String {
        let KeyMessage {
            transform,
            input,
            signature,
        } = &self.message;
        let (spec, seed) = (transform.spec(), run.seed);
        let (input, signature) = (hex::encode(input), hex::encode(signature));
        format!("{spec}, seed {seed}, input {input}, signature {signature}: {why}")
    }
}

fn signature_scheme(like: SignatureScheme, rng: &mut Rng) -> SignatureScheme {
    let hash = *rng.pick(&HASHES);
    match like {
        SignatureScheme::RsaPkcs1(_) => SignatureScheme::RsaPkcs1(hash),
        SignatureScheme::RsaPss(_) => SignatureScheme::RsaPss(Pss {
            hash,
            mgf1: *rng.pick(&HASHES),
            salt_len: rng.between(0, hash.digest_len()),
        }),
        SignatureScheme::Ecdsa(_) => SignatureScheme::Ecdsa(hash),
        other => other,
    }
}

fn encryption_scheme(like: EncryptionScheme, rng: &mut Rng) -> EncryptionScheme {
    match like {
        EncryptionScheme::RsaOaep(_) => EncryptionScheme::RsaOaep(Oaep {
            hash: *rng.pick(&HASHES),
            mgf1: *rng.pick(&HASHES),
        }),
        other => other,
    }
}

impl Rng {
    fn bytes_up_to(&mut self, max: usize) -> Vec<u8> {
        let len = self.between(0, max);
        self.bytes(len)
    }

    /// Changes a bit, or the length.
    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        match self.below(6) {
            0 => bytes.push(0),
            1 => drop(bytes.pop()),
            2 => bytes.fill(if self.one_in(2) { 0 } else { 0xff }),
            _ if bytes.is_empty() => {}
            _ => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
        }
    }

    /// Changes a bit, where there is one.
    fn flip(&mut self, bytes: &mut [u8]) {
        if !bytes.is_empty() {
            let at = self.below(bytes.len());
            bytes[at] ^= 1 << self.below(8);
        }
    }
}
