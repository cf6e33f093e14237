//! Keys from PEM and DER.

use std::sync::OnceLock;

use lanelock_core::{Device, Hash, Status};
use lanelock_native::Native;
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyError, KeyKind, KeyOp, KeyParts, KeyTransform, Scheme,
    SignatureScheme,
};
use openssl::pkey::PKey;

use crate::containers::{generator, written_public, written_secret};

/// The first byte says whether the rest is read as a secret key, and whether with a passphrase. A
/// key that is read, written out and read once more is the same; libcrypto, where it reads it by
/// itself, reads the same; and what the key does is the same on every engine that offers it.
///
/// # Panics
/// If not.
pub fn run(data: &[u8]) {
    let Some((first, container)) = data.split_first() else {
        return;
    };
    let passphrase = (first & 2 != 0).then_some(&b"open"[..]);
    match first & 1 {
        0 => public(container),
        _ => secret(container, passphrase),
    }
}

fn public(container: &[u8]) {
    let device = device();
    let Ok(key) = device.read_public_key(container) else {
        return;
    };
    let Some(written) = written_public(&key) else {
        return;
    };
    let again = device
        .read_public_key(&written)
        .expect("libcrypto wrote it");
    assert!(
        key == again,
        "{key:?} is read otherwise from {written:02x?}"
    );
    if let Ok(theirs) = PKey::public_key_from_der(container) {
        let ours = PKey::public_key_from_der(&written).expect("libcrypto wrote it");
        assert!(
            theirs.public_eq(&ours),
            "{key:?} is another key: {written:02x?}"
        );
    }
    for scheme in schemes(key.kind()) {
        // R and s of 1, or too short: an answer is wanted, not a signature.
        let one = [&[1][..], &[0; 31], &[1], &[0; 31]].concat();
        let signature = match key.kind() {
            KeyKind::Ec(_) => vec![0x30, 6, 2, 1, 1, 2, 1, 1],
            _ => one,
        };
        agree(
            &KeyTransform::verify(*scheme, &key),
            b"a message",
            &signature,
        );
    }
}

fn secret(container: &[u8], passphrase: Option<&[u8]>) {
    let device = device();
    let Ok(key) = device.read_secret_key(container, passphrase) else {
        return;
    };
    // What takes longer than all other keys together.
    if matches!(key.kind(), KeyKind::Rsa(2049..)) {
        return;
    }
    if let Some(written) = written_secret(&key) {
        let again = device
            .read_secret_key(&written, None)
            .expect("libcrypto wrote it");
        let again = written_secret(&again).expect("of the same kind");
        assert_eq!(written, again, "{key:?}");
    }
    for scheme in schemes(key.kind()) {
        agree(&KeyTransform::sign(*scheme, &key), b"a message", &[]);
    }
    if let Some(peer) = peer(key.kind()) {
        agree(&KeyTransform::derive(&key), &peer, &[]);
    }
}

/// What an operation gives, or why it gives nothing.
type Answer = Result<Vec<u8>, String>;

/// Runs an operation on each engine that offers it: all fail or all succeed, and a result that is
/// not random is the same.
fn agree(transform: &KeyTransform, input: &[u8], signature: &[u8]) {
    let names = device().engines().map(|engine| engine.name());
    let answers: Vec<(&str, Answer)> = names
        .filter_map(|name| Some((name, answer(name, transform, input, signature)?)))
        .collect();
    let spec = transform.spec();
    let is_random = spec.scheme != Scheme::Plain && matches!(spec.kind, KeyKind::Ec(_));
    for pair in answers.windows(2) {
        let same = match (&pair[0].1, &pair[1].1) {
            (Ok(one), Ok(other)) => is_random || one == other,
            (Err(_), Err(_)) => true,
            _ => false,
        };
        assert!(same, "{spec}: {pair:02x?}");
    }
}

/// `None` from an engine that does not offer it.
fn answer(
    engine: &str,
    transform: &KeyTransform,
    input: &[u8],
    signature: &[u8],
) -> Option<Answer> {
    let session = match device().key_session_on(engine, transform) {
        Err(KeyError::Unsupported { .. } | KeyError::NoSuchEngine { .. }) => return None,
        Err(error) => return Some(Err(error.to_string())),
        Ok(session) => session,
    };
    let mut output = vec![0; session.output_len(input.len())];
    let parts = KeyParts {
        input,
        signature,
        output: &mut output,
        second: &mut [],
    };
    let mut op = KeyOp::of(&session, parts);
    let mut queue = device().key_queue(1, FlushPolicy::default());
    let _its_status_says_more = queue.process(std::slice::from_mut(&mut op));
    Some(match op.status() {
        Status::Success => Ok(op.result().to_vec()),
        status => Err(format!("{status:?}: {:?}", op.error())),
    })
}

/// The schemes that keys of a kind sign with, one of each sort.
fn schemes(kind: KeyKind) -> &'static [SignatureScheme] {
    match kind {
        KeyKind::Rsa(_) => &[SignatureScheme::RsaPkcs1(Hash::Sha256)],
        KeyKind::Ec(Curve::Sm2) => &[],
        KeyKind::Ec(_) => &[SignatureScheme::Ecdsa(Hash::Sha256)],
        KeyKind::Ed25519 | KeyKind::Ed448 => &[SignatureScheme::EdDsa],
        _ => &[],
    }
}

/// A public value that secret keys of a kind agree with.
fn peer(kind: KeyKind) -> Option<Vec<u8>> {
    match kind {
        KeyKind::X25519 => Some([&[9][..], &[0; 31]].concat()),
        KeyKind::X448 => Some([&[5][..], &[0; 55]].concat()),
        KeyKind::Ec(curve) => generator(curve),
        _ => None,
    }
}

/// Every engine of this machine.
fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let mut builder = Device::builder();
        if let Some(native) = Native::new().expect("LANELOCK_TIER names one that this CPU has") {
            builder = builder.engine(native);
        }
        builder.engine(OpenSsl::new().expect("OpenSSL 3")).build()
    })
}
