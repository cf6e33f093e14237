//! Signing from tasks of tokio: connections on one thread share a queue, and their signatures a
//! batch.
//!
//! `cargo run --release --example tokio`

use std::time::Instant;

use lanelock::asynchronous::{KeyService, Signer};
use lanelock::public_key::{
    FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme,
};

const CONNECTIONS: usize = 32;
const ROUNDS: u32 = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
    let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
    let service = KeyService::new(&device, 256, FlushPolicy::default());

    // Keeps the deadlines of batches that nobody fills.
    let driven = service.clone();
    let driver = tokio::spawn(async move {
        driven
            .drive(|due| tokio::time::sleep_until(due.into()))
            .await;
    });

    let start = Instant::now();
    let mut connections = Vec::new();
    for number in 0..CONNECTIONS {
        let signer = Signer::new(&service, &session);
        let submitter = service.submitter();
        connections.push(tokio::spawn(async move {
            for round in 0..ROUNDS {
                let message = format!("connection {number}, message {round}");
                let signature = signer.sign(message.as_bytes()).await.expect("a signature");
                assert_eq!(signature.len(), 64);
            }
            drop(submitter);
        }));
    }
    for connection in connections {
        connection.await?;
    }
    driver.abort();

    let stats = service.stats();
    assert_eq!(
        stats.in_lanes + stats.single,
        CONNECTIONS as u64 * u64::from(ROUNDS)
    );
    println!(
        "{} signatures in {:?} on engine {}: {} batches of {:.1}, {} one at a time",
        CONNECTIONS * ROUNDS as usize,
        start.elapsed(),
        session.engine(),
        stats.batches,
        stats.mean_fill(),
        stats.single,
    );
    Ok(())
}
