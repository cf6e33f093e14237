//! The reference must agree with every published vector.

use lanelock_core::Algorithm;
use lanelock_core::transform::Direction;

use super::all;
use crate::known::KnownAnswer;
use crate::reference;

/// What the reference makes of a vector: ciphertext and tag.
fn protect(known: &KnownAnswer) -> (Vec<u8>, Vec<u8>) {
    let KnownAnswer {
        key,
        iv,
        aad,
        plaintext,
        customization,
        ..
    } = known;
    let tag_len = known.tag.len();
    match known.algorithm {
        Algorithm::Cipher(c) => {
            let back = reference::cipher(c, Direction::Reverse, key, iv, &known.ciphertext);
            assert_eq!(&back, plaintext);
            let forward = reference::cipher(c, Direction::Forward, key, iv, plaintext);
            (forward, Vec::new())
        }
        Algorithm::Hash(h) => (
            Vec::new(),
            reference::hash(h, customization, tag_len, plaintext),
        ),
        Algorithm::Mac(m) => {
            let tag = reference::mac(m, key, customization, iv, plaintext, tag_len);
            (Vec::new(), tag)
        }
        Algorithm::Aead(a) => {
            let opened = reference::open(a, key, iv, aad, &known.ciphertext, &known.tag);
            assert_eq!(opened.as_ref(), Some(plaintext));
            reference::seal(a, key, iv, aad, plaintext, tag_len)
        }
        Algorithm::Chain(_, c, m) => {
            let ciphertext = reference::cipher(c, Direction::Forward, key, iv, plaintext);
            let parts = [aad, &known.header, &ciphertext, &known.trailer].map(Vec::as_slice);
            let tag = reference::mac(m, &known.mac_key, &[], &[], &parts.concat(), tag_len);
            (ciphertext, tag)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_reference_agrees_with_every_vector() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, vectors) in all() {
        for vector in vectors {
            count += 1;
            let known = &vector.known;
            if protect(known) != (known.ciphertext.clone(), known.tag.clone()) {
                wrong.push(format!(
                    "{name}.txt, line {}: {}",
                    vector.line, vector.source
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 200, "{count}");
}
