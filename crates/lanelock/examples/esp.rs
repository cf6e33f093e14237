//! Packets of IPsec ESP (RFC 4303) by a chain: AES-CBC, then HMAC-SHA1-96 over everything but the
//! tag. IV and tag lie in the packet.
//!
//! `cargo run --release --example esp`

use std::ops::Range;

use lanelock::{Buffer, Cipher, Hash, Mac, Op, Session, Status, Transform};

/// SPI and sequence number.
const HEADER: usize = 8;
const IV: usize = 16;
/// HMAC-SHA1, cut off (RFC 2404).
const ICV: usize = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let (key, mac) = ([7; 16], Mac::Hmac(Hash::Sha1));
    let mac_key = [9; 20];
    let out = Transform::encrypt_then_mac(Cipher::AesCbc, &key, mac, &mac_key).tag_len(ICV);
    let back = Transform::verify_then_decrypt(Cipher::AesCbc, &key, mac, &mac_key).tag_len(ICV);
    let (out, back) = (device.session(out)?, device.session(back)?);
    let mut queue_pair = device.queue_pair(32);

    let payloads: Vec<Vec<u8>> = (1..=32).map(|n| vec![0x45; 16 * n]).collect();
    let mut packets: Vec<Vec<u8>> = (1..).zip(&payloads).map(packet).collect();
    let mut burst: Vec<Op> = packets.iter_mut().map(|packet| esp(&out, packet)).collect();
    assert_eq!(queue_pair.process(&mut burst).succeeded, payloads.len());
    for (packet, payload) in packets.iter().zip(&payloads) {
        assert_ne!(&packet[body(packet)], payload);
    }

    packets[3][5] ^= 1; // the sequence number, on its way
    let mut burst: Vec<Op> = packets
        .iter_mut()
        .map(|packet| esp(&back, packet))
        .collect();
    assert_eq!(queue_pair.process(&mut burst).failed, 1);
    assert_eq!(burst[3].status(), Status::AuthFailed);
    drop(burst);
    for (n, (packet, payload)) in packets.iter().zip(&payloads).enumerate() {
        assert_eq!(packet[body(packet)] == payload[..], n != 3);
    }
    println!("31 packets of ESP on engine {}, one refused", back.engine());
    Ok(())
}

/// The operation on a packet, the same for both directions.
fn esp<'a>(session: &'a Session, packet: &'a mut [u8]) -> Op<'a> {
    let (body, icv) = (body(packet), packet.len() - ICV);
    Op::new(session, Buffer::in_place(packet))
        .iv_at(HEADER)
        .cipher_range(body)
        .auth_range(0..icv)
        .tag_at(icv)
}

/// Where the payload is.
fn body(packet: &[u8]) -> Range<usize> {
    HEADER + IV..packet.len() - ICV
}

/// A packet with room for its tag. In earnest the IV is random, and the payload is padded.
fn packet((sequence, payload): (u32, &Vec<u8>)) -> Vec<u8> {
    let spi = 0x1234_u32;
    let iv = [u8::try_from(sequence).unwrap_or_default(); IV];
    let parts: [&[u8]; 5] = [
        &spi.to_be_bytes(),
        &sequence.to_be_bytes(),
        &iv,
        payload,
        &[0; ICV],
    ];
    parts.concat()
}
