//! Implicit rejection gives what every implementation of the construction gives.

use lanelock_public_key::{EncryptionScheme, KeyDevice, KeyTransform};

#[test]
fn malformed_ciphertexts_give_the_messages_of_the_published_vectors() {
    let device = super::device();
    let (mut key, mut ciphertext, mut ran) = (None, Vec::new(), 0);
    let lines = include_str!("rejection.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, digits) = line.split_once(" =").unwrap();
        let bytes = decode(digits.trim());
        match name {
            "key" => key = Some(device.read_secret_key(&bytes, None).unwrap()),
            "ciphertext" => ciphertext = bytes,
            _ => {
                let key = key.as_ref().unwrap();
                let transform = KeyTransform::decrypt(EncryptionScheme::RsaPkcs1, key);
                let (message, _) = super::run(&device, &transform, &ciphertext, &[]).unwrap();
                assert_eq!(message, bytes, "{}", &digits[..digits.len().min(40)]);
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 7);
}

fn decode(digits: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
