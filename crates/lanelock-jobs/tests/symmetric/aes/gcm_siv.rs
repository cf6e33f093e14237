use lanelock_jobs::Given;
use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::siv::{gcm_siv_crypt, gcm_siv_encrypt, gcm_siv_keys};
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::siv::{NONCE, Stream};
use lanelock_kernels::aes::{BLOCK, EncryptKey};

per_tier!(continues_anywhere, counts_modulo_two_to_the_32);

fn continues_anywhere(machine: Machine) {
    let mut random = Random::new(23);
    for _ in 0..150 {
        let key = EncryptKey::new(machine, &random.bytes(32)).unwrap();
        let (len, aad_len) = (random.below(600), random.below(100));
        let (iv, aad, mut text) = (
            random.bytes(NONCE),
            random.bytes(aad_len),
            random.bytes(len),
        );
        let mut stream = Stream::new(machine, &key, iv.as_slice().try_into().unwrap());
        for part in [&aad, &text] {
            let (first, rest) = part.split_at(random.below(part.len() + 1) / BLOCK * BLOCK);
            stream.absorb(first);
            stream.absorb(rest);
        }
        let given = Given {
            key: 0,
            iv: &iv,
            aad: &aad,
            tag: &[],
        };
        let mut expected = text.clone();
        let tag = gcm_siv_encrypt(&key, &given, &mut expected);
        assert_eq!(stream.tag(aad_len, len), tag);
        let (first, rest) = text.split_at_mut(random.below(len + 1) / BLOCK * BLOCK);
        for part in [first, rest] {
            // SAFETY: in place, on a slice of that length.
            unsafe { stream.crypt(&tag, part.as_ptr(), part.as_mut_ptr(), part.len()) };
        }
        assert_eq!(text, expected);
    }
}

/// RFC 8452, C.3: a counter that wraps leaves the rest of its block as it is.
fn counts_modulo_two_to_the_32(machine: Machine) {
    let key = EncryptKey::new(machine, &[0; 32]).unwrap();
    let mut tag = [0; BLOCK];
    tag[..4].fill(0xff);
    let mut text = [0; 1000];
    let mut stream = Stream::new(machine, &key, [0; NONCE]);
    // SAFETY: in place, on an array of that length.
    unsafe { stream.crypt(&tag, text.as_ptr(), text.as_mut_ptr(), 1000) };
    let mut expected = [0; 1000];
    let (_, encryption) = gcm_siv_keys(&key, [0; NONCE]);
    gcm_siv_crypt(&encryption, tag, &mut expected);
    assert_eq!(text, expected);
}
