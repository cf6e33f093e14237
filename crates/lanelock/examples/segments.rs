//! A message in pieces, encrypted where it lies: segments in any split, in place or to other memory.
//!
//! `cargo run --release --example segments`

use std::io::{IoSlice, IoSliceMut};

use lanelock::{Buffer, Cipher, Op, Transform};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = lanelock::open()?;
    let key = [7; 32];
    let encrypt = device.session(Transform::encrypt(Cipher::AesCtr, &key))?;
    let decrypt = device.session(Transform::decrypt(Cipher::AesCtr, &key))?;
    let mut queue_pair = device.queue_pair(1);
    let iv = [1; 16];

    // From the pieces that a socket has delivered to the pages of a file: the splits differ.
    let pieces: [&[u8]; 3] = [b"a message", b" that arrived", b" in three pieces"];
    let message = pieces.concat();
    let input = pieces.map(IoSlice::new);
    let (mut first, mut second) = ([0; 16], vec![0; message.len() - 16]);
    let mut output = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    let buffer = Buffer::separate(&input[..], &mut output[..]);
    let op = Op::new(&encrypt, buffer).iv(&iv);
    assert_eq!(queue_pair.process(&mut [op]).succeeded, 1);

    let ciphertext = [&first[..], &second].concat();
    assert_ne!(ciphertext, message);

    // In place, byte by byte if need be: the result does not depend on the split.
    let mut bytes = ciphertext;
    let mut segments: Vec<IoSliceMut> = bytes.chunks_mut(1).map(IoSliceMut::new).collect();
    let op = Op::new(&decrypt, Buffer::in_place(&mut segments[..])).iv(&iv);
    assert_eq!(queue_pair.process(&mut [op]).succeeded, 1);
    assert_eq!(bytes, message);
    println!("{}", String::from_utf8(bytes)?);
    Ok(())
}
