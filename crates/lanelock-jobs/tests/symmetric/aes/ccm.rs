use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::ccm;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ccm::{Job, Nonce, decrypt_many, encrypt_many};

const NONCE: [u8; 12] = [7; 12];
const TAG: usize = 8;
/// The longest text that is authenticated in one run with what comes before it.
const HELD: usize = 64;

/// Encrypts messages with `aad` and texts of these lengths together, under each of the keys in turn, and
/// decrypts them again.
fn check(machine: Machine, keys: &[EncryptKey], aad: &[u8], lengths: &[(usize, usize)]) {
    let mut texts: Vec<_> = lengths.iter().map(|&(_, text)| vec![9; text]).collect();
    let keyed = || keys.iter().cycle();
    let tags = run(machine, encrypt_many, &mut texts, keyed(), aad, lengths);
    for (((tag, text), key), &(aad_len, text_len)) in
        tags.iter().zip(&texts).zip(keyed()).zip(lengths)
    {
        let mut expected = vec![9; text_len];
        let expected_tag = ccm::encrypt(key, &NONCE, TAG, &aad[..aad_len], &mut expected);
        assert_eq!(*tag, expected_tag, "{aad_len} and {text_len} bytes");
        assert_eq!(*text, expected, "{aad_len} and {text_len} bytes");
    }
    let again = run(machine, decrypt_many, &mut texts, keyed(), aad, lengths);
    assert_eq!(tags, again);
    assert!(texts.iter().flatten().all(|&byte| byte == 9));
}

/// The tags of texts that were encrypted or decrypted.
fn run<'k>(
    machine: Machine,
    many: unsafe fn(Machine, &mut [Job<'_>]),
    texts: &mut [Vec<u8>],
    keys: impl Iterator<Item = &'k EncryptKey>,
    aad: &[u8],
    lengths: &[(usize, usize)],
) -> Vec<[u8; 16]> {
    let mut jobs: Vec<_> = texts
        .iter_mut()
        .zip(keys)
        .zip(lengths)
        .map(|((text, key), &(aad_len, _))| Job {
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
    unsafe { many(machine, &mut jobs) };
    jobs.iter().map(|job| job.tag).collect()
}

/// More messages than fit lanes, of a few shapes and of many, under one key and under several.
fn picks_out_messages_of_one_shape(machine: Machine) {
    let mut random = Random::new(2);
    let aad = random.bytes(40);
    let keys: Vec<_> = (0..5)
        .map(|_| EncryptKey::new(machine, &random.bytes(32)).unwrap())
        .collect();
    let shapes = [
        (16, 64),
        (16, 576),
        (16, 1500),
        (13, 64),
        (0, 17),
        (40, 0),
        (16, 700),
    ];
    for (number, kinds) in (0..60).zip((1..=shapes.len()).cycle()) {
        let lengths: Vec<_> = (0..number + 10)
            .map(|_| shapes[random.below(kinds)])
            .collect();
        check(machine, &keys[..1], &aad, &lengths);
        check(machine, &keys, &aad, &lengths);
    }
}

per_tier!(
    hashes_additional_data_of_any_length,
    picks_out_messages_of_one_shape
);

fn hashes_additional_data_of_any_length(machine: Machine) {
    let key = [EncryptKey::new(machine, &[1; 16]).unwrap()];
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
