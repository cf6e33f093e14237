//! Public-key operations through the engine, one at a time, against the loop that a careful
//! program writes over EVP: one initialised context for each key, used again and again.
//!
//! `cargo run --release --example public_key_floor` prints the median of alternating rounds.

use std::error::Error;
use std::time::{Duration, Instant};

use lanelock_core::Device;
use lanelock_core::Hash;
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyTransform, PublicKey, SecretKey,
    SignatureScheme,
};
use openssl::md::Md;
use openssl::pkey::{Id, PKey};
use openssl::pkey_ctx::PkeyCtx;

const ROUNDS: usize = 21;
const ROUND: Duration = Duration::from_millis(40);
const DIGEST: [u8; 32] = [0x5a; 32];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let device = Device::builder().engine(OpenSsl::new()?).build();
    rsa_sign(&device)?;
    ecdsa_sign(&device)?;
    x25519(&device)?;
    Ok(())
}

fn rsa_sign(device: &Device) -> Result<()> {
    let rsa = openssl::rsa::Rsa::generate(2048)?;
    let key = PKey::from_rsa(rsa)?;
    let own = device.read_secret_key(&key.private_key_to_der()?, None)?;
    let scheme = SignatureScheme::RsaPkcs1(Hash::Sha256);
    let session = device.key_session(&KeyTransform::sign(scheme, &own).digest())?;
    let mut context = PkeyCtx::new(&key)?;
    context.sign_init()?;
    context.set_rsa_padding(openssl::rsa::Padding::PKCS1)?;
    context.set_signature_md(Md::sha256())?;
    let (mut ours, mut theirs) = ([0; 256], [0; 256]);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    compare(
        "rsa-2048-sign",
        || {
            let mut ops = [KeyOp::sign(&session, &DIGEST, &mut ours)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        },
        || assert_eq!(context.sign(&DIGEST, Some(&mut theirs)).ok(), Some(256)),
    );
    assert_eq!(ours, theirs, "the same signature");
    Ok(())
}

fn ecdsa_sign(device: &Device) -> Result<()> {
    let group = openssl::ec::EcGroup::from_curve_name(openssl::nid::Nid::X9_62_PRIME256V1)?;
    let ec = openssl::ec::EcKey::generate(&group)?;
    let own = SecretKey::ec(Curve::P256, &ec.private_key().to_vec(), None)?;
    let key = PKey::from_ec_key(ec)?;
    let scheme = SignatureScheme::Ecdsa(Hash::Sha256);
    let session = device.key_session(&KeyTransform::sign(scheme, &own).digest())?;
    let public: PublicKey = device.public_key(&own)?;
    let verify = device.key_session(&KeyTransform::verify(scheme, &public).digest())?;
    let mut context = PkeyCtx::new(&key)?;
    context.sign_init()?;
    context.set_signature_md(Md::sha256())?;
    let (mut ours, mut theirs, mut len) = ([0; 72], [0; 72], 0);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    compare(
        "p256-sign",
        || {
            let mut ops = [KeyOp::sign(&session, &DIGEST, &mut ours)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        },
        || len = context.sign(&DIGEST, Some(&mut theirs)).unwrap_or(0),
    );
    let mut ops = [KeyOp::verify(&verify, &DIGEST, &theirs[..len])];
    assert_eq!(queue.process(&mut ops).succeeded, 1, "the same key");
    Ok(())
}

fn x25519(device: &Device) -> Result<()> {
    let key = PKey::private_key_from_raw_bytes(&[7; 32], Id::X25519)?;
    let peer = PKey::private_key_from_raw_bytes(&[9; 32], Id::X25519)?.raw_public_key()?;
    let own = SecretKey::raw(KeyKind::X25519, &[7; 32])?;
    let session = device.key_session(&KeyTransform::derive(&own))?;
    let (mut ours, mut theirs) = ([0; 32], [0; 32]);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut context = PkeyCtx::new(&key)?;
    context.derive_init()?;
    compare(
        "x25519-derive",
        || {
            let mut ops = [KeyOp::derive(&session, &peer, &mut ours)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        },
        || {
            let peer = PKey::public_key_from_raw_bytes(&peer, Id::X25519).expect("32 bytes");
            context
                .derive_set_peer(&peer)
                .expect("a key of the same kind");
            assert_eq!(context.derive(Some(&mut theirs)).ok(), Some(32));
        },
    );
    assert_eq!(ours, theirs, "the same secret");
    Ok(())
}

fn compare(name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        rates[0].push(rate(&mut ours));
        rates[1].push(rate(&mut theirs));
    }
    let [ours, theirs] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[ROUNDS / 2]
    });
    println!(
        "{name:14} engine {ours:9.0}/s, EVP loop {theirs:9.0}/s, ratio {:.3}",
        ours / theirs
    );
}

fn rate(work: &mut impl FnMut()) -> f64 {
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < ROUND {
        work();
        count += 1;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}
