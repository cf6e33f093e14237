use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::ccm;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ccm::{Job, Nonce, encrypt_many};

const NONCE: [u8; 12] = [7; 12];
const TAG: usize = 8;
/// The longest text that is authenticated in one run with what comes before it.
const HELD: usize = 64;

/// Encrypts messages with `aad` and texts of these lengths together.
fn check(machine: Machine, key: &EncryptKey, aad: &[u8], lengths: &[(usize, usize)]) {
    let mut texts: Vec<_> = lengths.iter().map(|&(_, text)| vec![9; text]).collect();
    let mut jobs: Vec<_> = texts
        .iter_mut()
        .zip(lengths)
        .map(|(text, &(aad_len, _))| Job {
            source: text.as_ptr(),
            target: text.as_mut_ptr(),
            len: text.len(),
            aad: aad[..aad_len].as_ptr(),
            aad_len,
            key,
            nonce: Nonce::new(&NONCE),
            tag_len: TAG,
            tag: [0; 16],
        })
        .collect();
    // SAFETY: in place, each on a vector of its own.
    unsafe { encrypt_many(machine, &mut jobs) };
    let tags: Vec<_> = jobs.iter().map(|job| job.tag).collect();
    for ((tag, text), &(aad_len, text_len)) in tags.iter().zip(&texts).zip(lengths) {
        let mut expected = vec![9; text_len];
        let expected_tag = ccm::encrypt(key, &NONCE, TAG, &aad[..aad_len], &mut expected);
        assert_eq!(*tag, expected_tag, "{aad_len} and {text_len} bytes");
        assert_eq!(*text, expected, "{aad_len} and {text_len} bytes");
    }
}

per_tier!(hashes_additional_data_of_any_length);

fn hashes_additional_data_of_any_length(machine: Machine) {
    let key = EncryptKey::new(machine, &[1; 16]).unwrap();
    let aad = Random::new(1).bytes(66_000);
    for len in (0..100).chain([65_279, 65_280, 65_281, 65_536, 66_000]) {
        check(machine, &key, &aad, &[(len, 33)]);
        // In lanes, next to others that have more and fewer pieces.
        let lengths = [
            (len, 33),
            (0, 16),
            (len, 0),
            (14, HELD),
            (len / 2, 300),
            (len, 16),
            (3, HELD + 1),
        ];
        check(machine, &key, &aad, &lengths);
    }
    let lengths: Vec<_> = (0..45).map(|i| (7 * i % 61, 13 * i % 90)).collect();
    check(machine, &key, &aad, &lengths);
}
