//! AES-SIV as RFC 5297 writes it down.

use openssl::symm::Mode;

use super::cipher::aes_ctr;
use super::mac::{cmac, double};
use super::{evp, xor};

/// Ciphertext and synthetic IV of section 2.6, with the components of section 3: additional data,
/// and the nonce if there is one.
pub(super) fn seal(key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mac_key, key) = key.split_at(key.len() / 2);
    let synthetic = s2v(mac_key, &components(nonce, aad), data);
    (crypt(key, &synthetic, data), synthetic)
}

/// The plaintext, of section 2.7.
pub(super) fn open(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let (mac_key, key) = key.split_at(key.len() / 2);
    let plaintext = crypt(key, tag, data);
    let matches = s2v(mac_key, &components(nonce, aad), &plaintext) == tag;
    matches.then_some(plaintext)
}

fn components<'a>(nonce: &'a [u8], aad: &'a [u8]) -> Vec<&'a [u8]> {
    let nonce = (!nonce.is_empty()).then_some(nonce);
    [aad].into_iter().chain(nonce).collect()
}

/// Section 2.4, with a last string.
fn s2v(key: &[u8], strings: &[&[u8]], last: &[u8]) -> Vec<u8> {
    let mut sum = cmac(key, &[0; 16]);
    for string in strings {
        sum = double(&sum);
        xor(&mut sum, &cmac(key, string));
    }
    let mut end = last.to_vec();
    if let Some(at) = last.len().checked_sub(16) {
        xor(&mut end[at..], &sum);
    } else {
        end.push(0x80);
        end.resize(16, 0);
        xor(&mut end, &double(&sum));
    }
    cmac(key, &end)
}

/// Section 2.5: counter mode from the synthetic IV with two of its bits cleared.
fn crypt(key: &[u8], synthetic: &[u8], data: &[u8]) -> Vec<u8> {
    let mut counter = synthetic.to_vec();
    counter[8] &= 0x7f;
    counter[12] &= 0x7f;
    evp(aes_ctr(key.len()), Mode::Encrypt, key, Some(&counter), data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5297, A.2, which has two components of additional data: more than an operation has.
    #[test]
    fn several_components_are_the_rfcs() {
        let bytes = |text: &str| hex::decode(text).expect("hexadecimal");
        let key = bytes("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f");
        let strings = [
            "00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
            "102030405060708090a0",
            "09f911029d74e35bd84156c5635688c0",
        ]
        .map(bytes);
        let plaintext = b"this is some plaintext to encrypt using SIV-AES";
        let strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
        let synthetic = s2v(&key[..16], &strings, plaintext);
        assert_eq!(hex::encode(&synthetic), "7bdb6e3b432667eb06f4d14bff2fbd0f");
        assert_eq!(
            hex::encode(crypt(&key[16..], &synthetic, plaintext)),
            "cb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829\
             ea64ad544a272e9c485b62a3fd5c0d"
        );
    }
}
