//! A gateway's burst: packets with a key for each peer, sealed in place by one call, then opened
//! again; one was changed on the way.
//!
//! `cargo run --release --example burst`

use lanelock::{Aead, Buffer, Device, Op, Session, Status, Transform};

const PEERS: u8 = 4;
const PACKETS: usize = 32;

type Nonce = [u8; 12];
type Tag = [u8; 16];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let mut queue_pair = device.queue_pair(PACKETS); // one for each thread

    let sealing = sessions(&device, Transform::seal)?;
    let mut packets: Vec<Vec<u8>> = (0..PACKETS).map(|n| vec![0xa5; 64 + 40 * n]).collect();
    let nonces: Vec<Nonce> = (0..PACKETS).map(nonce).collect();
    let mut tags = [Tag::default(); PACKETS];

    // Messages of different keys and lengths share the lanes of one burst.
    let messages = packets.iter_mut().zip(&nonces).zip(&mut tags);
    let mut burst: Vec<Op> = messages
        .enumerate()
        .map(|(n, ((packet, nonce), tag))| {
            Op::new(peer(&sealing, n), Buffer::in_place(packet))
                .iv(nonce)
                .aad(b"header")
                .tag(tag)
        })
        .collect();
    let outcome = queue_pair.process(&mut burst);
    assert_eq!(outcome.succeeded, PACKETS);

    packets[7][0] ^= 1;
    let opening = sessions(&device, Transform::open)?;
    let messages = packets.iter_mut().zip(&nonces).zip(&tags);
    let mut burst: Vec<Op> = messages
        .enumerate()
        .map(|(n, ((packet, nonce), tag))| {
            Op::new(peer(&opening, n), Buffer::in_place(packet))
                .iv(nonce)
                .aad(b"header")
                .expected_tag(tag)
        })
        .collect();
    let outcome = queue_pair.process(&mut burst);
    assert_eq!((outcome.succeeded, outcome.failed), (PACKETS - 1, 1));
    assert_eq!(burst[7].status(), Status::AuthFailed);
    drop(burst);

    let engine = opening[0].engine();
    println!(
        "{} packets opened on engine {engine}, one refused",
        outcome.succeeded
    );
    for (n, packet) in packets.iter().enumerate() {
        assert_eq!(packet.iter().all(|byte| *byte == 0xa5), n != 7);
    }
    Ok(())
}

/// A session for each peer's key.
fn sessions(
    device: &Device,
    transform: fn(Aead, &[u8]) -> Transform,
) -> Result<Vec<Session>, lanelock::SessionError> {
    let keys = (0..PEERS).map(|peer| [peer; 16]);
    keys.map(|key| device.session(transform(Aead::AesGcm, &key)))
        .collect()
}

fn peer(sessions: &[Session], packet: usize) -> &Session {
    &sessions[packet % sessions.len()]
}

/// A counter: a nonce is never used twice with one key.
fn nonce(packet: usize) -> Nonce {
    let mut nonce = Nonce::default();
    nonce[4..].copy_from_slice(&(packet as u64).to_be_bytes());
    nonce
}
