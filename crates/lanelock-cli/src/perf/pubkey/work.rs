//! The operations of a cell: keys, inputs, and how a result is checked.

use std::hash::{DefaultHasher, Hasher};

use lanelock::public_key::{
    EncryptionScheme, FlushPolicy, KeyBuffers, KeyDevice, KeyError, KeyJob, KeyKind, KeyOp,
    KeyParts, KeySession, KeySpec, KeyTransform, Operation, PublicKey, PublicParts, Scheme,
    SecretKey, SignatureScheme,
};
use lanelock::{Device, Status};

use super::who::Who;
use crate::failure::Failure;
use crate::row::Common;
use lanelock::engine::public_key::PublicKeyEngine;

/// One operation with several keys.
pub(super) struct KeyWork {
    pub(super) name: String,
    pub(super) spec: KeySpec,
    pub(super) items: Vec<Item>,
}

/// One key, and an operation with it.
pub(crate) struct Item {
    pub(crate) transform: KeyTransform,
    pub(crate) input: Vec<u8>,
    pub(super) signature: Vec<u8>,
    check: Check,
}

/// What a result is held against.
enum Check {
    /// The result itself.
    Is(Vec<u8>),
    /// A signature, by this verification.
    Verifies(Box<KeyTransform>),
    /// There is nothing but the status.
    Status,
}

/// The engine that makes keys, inputs and answers. What it does not have (ML-KEM before OpenSSL 3.5)
/// comes from the first engine that has it.
const MAKER: &str = "openssl";

fn maker(device: &Device, transform: &KeyTransform) -> Result<KeySession, KeyError> {
    match device.key_session_on(MAKER, transform) {
        Err(KeyError::Unsupported { .. }) => device.key_session(transform),
        made => made,
    }
}

impl KeyWork {
    /// Prepares the operation called `name` with `keys` keys.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is no such operation, [`Failure::Failed`] if keys or inputs
    /// cannot be made.
    pub(super) fn new(device: &Device, name: &str, keys: usize) -> Result<Self, Failure> {
        let offered: Vec<_> = device
            .engines()
            .filter_map(|engine| engine.public_key())
            .flat_map(|engine| engine.capabilities())
            .map(|row| row.spec)
            .collect();
        let Some(&spec) = offered.iter().find(|spec| spec.to_string() == name) else {
            let mut names: Vec<_> = offered.iter().map(ToString::to_string).collect();
            names.dedup();
            return Err(Failure::Usage(format!(
                "--algorithm {name}: no such operation; there are: {}",
                names.join(", ")
            )));
        };
        let items = (0..keys).map(|_| Item::new(device, spec));
        Ok(Self {
            name: name.to_owned(),
            spec,
            items: items.collect::<Result<_, _>>()?,
        })
    }

    /// A session for each key; `None` if `who` does not offer it.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a key is refused.
    pub(super) fn sessions(
        &self,
        device: &Device,
        who: &Who,
    ) -> Result<Option<Vec<KeySession>>, Failure> {
        let items = self.items.iter();
        items
            .map(|item| who.session(device, &item.transform))
            .collect()
    }

    /// What stands for right results, whatever their bytes: contestants that are all right agree.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.name.as_bytes());
        hasher.finish()
    }

    /// What the row of a contestant has that does `rate` operations per second.
    pub(super) fn common(&self, contestant: &str, rate: f64) -> Common {
        Common {
            algorithm: self.name.clone(),
            operation: self.spec.operation.name().to_owned(),
            contestant: contestant.to_owned(),
            size: self.items[0].input.len() as u64,
            sessions: self.items.len() as u64,
            threads: 1,
            ops_per_s: rate,
            ns_per_op: 1e9 / rate,
            ..Common::default()
        }
    }
}

impl Item {
    fn new(device: &Device, spec: KeySpec) -> Result<Self, Failure> {
        if spec.operation == Operation::Generate {
            return Ok(Self::unchecked(
                KeyTransform::generate(spec.kind),
                Vec::new(),
            ));
        }
        Self::with(device, spec, &pair(device, spec.kind)?)
    }

    /// An operation with this key; not one that makes keys.
    ///
    /// # Errors
    /// [`Failure::Failed`] if its input or its answer cannot be made.
    pub(crate) fn with(
        device: &Device,
        spec: KeySpec,
        (secret, public): &(SecretKey, PublicKey),
    ) -> Result<Self, Failure> {
        let digest = [0x5a; 32].to_vec();
        Ok(match (spec.operation, spec.scheme) {
            (Operation::Sign | Operation::Verify, Scheme::Signature(scheme)) => {
                let (mut sign, mut verify) = (
                    KeyTransform::sign(scheme, secret),
                    KeyTransform::verify(scheme, public),
                );
                if scheme.hash().is_some() {
                    (sign, verify) = (sign.digest(), verify.digest());
                }
                let (signature, _) = run(device, &sign, &digest)?;
                if spec.operation == Operation::Sign {
                    let check = if is_deterministic(scheme) {
                        Check::Is(signature)
                    } else {
                        Check::Verifies(Box::new(verify))
                    };
                    return Ok(Self::of(sign, digest, check));
                }
                Self {
                    signature,
                    ..Self::of(verify, digest, Check::Status)
                }
            }
            (Operation::Encrypt | Operation::Decrypt, Scheme::Encryption(scheme)) => {
                let encrypt = KeyTransform::encrypt(scheme, public);
                let plaintext = match (spec.kind, public.parts()) {
                    // A raw block has the length of the modulus.
                    (KeyKind::Rsa(_), PublicParts::Rsa(rsa))
                        if encrypt.output_len(0) == rsa.n.len() =>
                    {
                        raw_or(&spec, rsa.n.len(), digest)
                    }
                    _ => digest,
                };
                let (ciphertext, _) = run(device, &encrypt, &plaintext)?;
                if spec.operation == Operation::Encrypt {
                    let is_raw = spec.scheme == Scheme::Encryption(EncryptionScheme::RsaRaw);
                    let check = if is_raw {
                        Check::Is(ciphertext)
                    } else {
                        Check::Status
                    };
                    return Ok(Self::of(encrypt, plaintext, check));
                }
                let decrypt = KeyTransform::decrypt(scheme, secret);
                Self::of(decrypt, ciphertext, Check::Is(plaintext))
            }
            (Operation::Derive, _) => {
                let derive = KeyTransform::derive(secret);
                let (_, peer) = pair(device, spec.kind)?;
                let peer = match peer.parts() {
                    PublicParts::Point(bytes)
                    | PublicParts::Raw(bytes)
                    | PublicParts::Dh(_, bytes) => bytes.clone(),
                    _ => Vec::new(),
                };
                let (shared, _) = run(device, &derive, &peer)?;
                Self::of(derive, peer, Check::Is(shared))
            }
            (Operation::Decapsulate, _) => {
                let (ciphertext, shared) = run(device, &KeyTransform::encapsulate(public), &[])?;
                let decapsulate = KeyTransform::decapsulate(secret);
                Self::of(decapsulate, ciphertext, Check::Is(shared))
            }
            _ => Self::unchecked(KeyTransform::encapsulate(public), Vec::new()),
        })
    }

    /// An operation whose result may be anything.
    pub(crate) fn unchecked(transform: KeyTransform, input: Vec<u8>) -> Self {
        Self::of(transform, input, Check::Status)
    }

    fn of(transform: KeyTransform, input: Vec<u8>, check: Check) -> Self {
        Self {
            transform,
            input,
            signature: Vec::new(),
            check,
        }
    }

    /// The operation on borrowed outputs.
    pub(super) fn op<'a>(
        &'a self,
        session: &'a KeySession,
        output: &'a mut [u8],
        second: &'a mut [u8],
    ) -> KeyOp<'a> {
        let parts = KeyParts {
            input: &self.input,
            signature: &self.signature,
            output,
            second,
        };
        KeyOp::of(session, parts)
    }

    /// The operation as a job.
    pub(super) fn job(&self, session: &KeySession) -> KeyJob {
        let buffers = KeyBuffers {
            input: Some(self.input.clone()),
            signature: Some(self.signature.clone()),
            output: Some(vec![0; session.output_len(self.input.len())]),
            second: Some(vec![0; session.second_output_len()]),
        };
        KeyJob::of(session, buffers)
    }

    /// Whether `result` is right.
    pub(crate) fn is_right(&self, device: &Device, result: &[u8]) -> Result<bool, Failure> {
        Ok(match &self.check {
            Check::Status => true,
            Check::Is(expected) => result == expected,
            Check::Verifies(verify) => {
                let session = maker(device, verify).map_err(Failure::of)?;
                let mut queue = device.key_queue(1, FlushPolicy::default());
                let mut ops = [KeyOp::verify(&session, &self.input, result)];
                queue.process(&mut ops).succeeded == 1
            }
        })
    }
}

fn raw_or(spec: &KeySpec, len: usize, digest: Vec<u8>) -> Vec<u8> {
    if spec.scheme != Scheme::Encryption(EncryptionScheme::RsaRaw) {
        return digest;
    }
    let mut block = vec![0x5a; len];
    block[0] = 0;
    block
}

fn is_deterministic(scheme: SignatureScheme) -> bool {
    matches!(
        scheme,
        SignatureScheme::RsaPkcs1(_) | SignatureScheme::EdDsa
    )
}

/// A new key.
///
/// # Errors
/// [`Failure::Failed`] if it cannot be made.
pub(crate) fn pair(device: &Device, kind: KeyKind) -> Result<(SecretKey, PublicKey), Failure> {
    let (secret, public) = run(device, &KeyTransform::generate(kind), &[])?;
    let pair = match kind {
        KeyKind::Ec(curve) => SecretKey::ec(curve, &secret, Some(&public))
            .and_then(|secret| Ok((secret, PublicKey::ec(curve, &public)?))),
        KeyKind::Rsa(_) | KeyKind::Dh(_) => device
            .read_secret_key(&secret, None)
            .and_then(|secret| Ok((secret, device.read_public_key(&public)?))),
        _ => SecretKey::raw(kind, &secret)
            .and_then(|secret| Ok((secret, PublicKey::raw(kind, &public)?))),
    };
    pair.map_err(Failure::of)
}

/// Runs one operation on the engine that makes them.
fn run(
    device: &Device,
    transform: &KeyTransform,
    input: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let session = maker(device, transform).map_err(Failure::of)?;
    let item = Item::unchecked(transform.clone(), input.to_vec());
    let mut output = vec![0; session.output_len(input.len())];
    let mut second = vec![0; session.second_output_len()];
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let (written, more) = {
        let mut ops = [item.op(&session, &mut output, &mut second)];
        let _looked_at_below = queue.process(&mut ops);
        if ops[0].status() != Status::Success {
            let why = ops[0]
                .error()
                .map_or(String::new(), |error| error.to_string());
            return Err(Failure::Failed(format!("{}: {why}", transform.spec())));
        }
        (ops[0].written(), ops[0].second_written())
    };
    output.truncate(written);
    second.truncate(more);
    Ok((output, second))
}
