//! Sessions, and buffers for one operation.

use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Device, Hash, Mac, Session, Transform};
use lanelock_testkit::ToyEngine;
use lanelock_testkit::math::{Stream, Sum};

pub const KEY: [u8; 16] = [7; 16];
pub const IV: [u8; 16] = [9; 16];

pub fn toy() -> Device {
    Device::builder().engine(ToyEngine::new("toy")).build()
}

pub fn session(device: &Device, transform: Transform) -> Session {
    device.session(transform).unwrap()
}

pub fn ctr() -> Transform {
    Transform::encrypt(Cipher::AesCtr, &KEY)
}

pub fn gcm(direction: Direction) -> Transform {
    let algorithm = lanelock_core::Algorithm::Aead(Aead::AesGcm);
    Transform::new(algorithm, direction, &KEY, &[])
}

pub fn hmac() -> Transform {
    Transform::compute(Mac::Hmac(Hash::Sha1), &KEY)
}

pub fn chain() -> Transform {
    Transform::encrypt_then_mac(Cipher::AesCbc, &KEY, Mac::Hmac(Hash::Sha1), &KEY).tag_len(12)
}

/// `data` as the toy's CTR session encrypts it.
pub fn encrypted(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    Stream::new(&KEY, &IV).encrypt(&mut data);
    data
}

/// The toy's HMAC-SHA1 of `data`.
pub fn sum(data: &[u8]) -> Vec<u8> {
    let mut sum = Sum::new(&KEY, &[]);
    sum.add(data);
    sum.tag()[..20].to_vec()
}
