//! A server's signatures: jobs of many connections wait in a queue until they fill the lanes, or
//! until the oldest has waited for the deadline.
//!
//! `cargo run --release --example public_keys`

use std::time::{Duration, Instant};

use lanelock::Status;
use lanelock::public_key::{
    Curve, FlushPolicy, KeyDevice, KeyJob, KeyKind, KeyOp, KeyTransform, SecretKey, SignatureScheme,
};

const CONNECTIONS: u64 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let key = SecretKey::ec(Curve::P256, &[7; 32], None)?;
    let public = device.public_key(&key)?;
    assert_eq!(public.kind(), KeyKind::Ec(Curve::P256));
    let scheme = SignatureScheme::Ecdsa(lanelock::Hash::Sha256);
    let signing = device.key_session(&KeyTransform::sign(scheme, &key))?;
    let verifying = device.key_session(&KeyTransform::verify(scheme, &public))?;

    let policy = FlushPolicy {
        deadline: Duration::from_micros(500),
        ..FlushPolicy::default()
    };
    let mut queue = device.key_queue(64, policy);
    for connection in 0..CONNECTIONS {
        let room = vec![0; signing.output_len(0)];
        let job = KeyJob::sign(&signing, transcript(connection), room).user_data(connection);
        queue.enqueue(job, Instant::now()).expect("a queue of 64");
    }

    // An event loop's part: run what is due, sleep until something else is.
    let mut done = Vec::new();
    while queue.in_flight() > 0 {
        queue.poll(Instant::now(), None);
        queue.dequeue(&mut done, 64);
        if let Some(due) = queue.due_at() {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }

    let stats = queue.stats();
    for job in &done {
        assert_eq!(job.status(), Status::Success);
        let message = transcript(job.data());
        let mut check = [KeyOp::verify(&verifying, &message, job.result())];
        assert_eq!(queue.process(&mut check).succeeded, 1);
    }
    assert_eq!(done.len() as u64, CONNECTIONS);
    println!(
        "{} signatures on engine {}: {} batches of {:.1}, {} one at a time",
        done.len(),
        signing.engine(),
        stats.batches,
        stats.mean_fill(),
        stats.single,
    );
    Ok(())
}

fn transcript(connection: u64) -> Vec<u8> {
    format!("what connection {connection} has said so far").into_bytes()
}
