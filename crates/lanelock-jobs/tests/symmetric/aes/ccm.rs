use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::ccm;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ccm::{Job, Nonce, decrypt_many, encrypt_many};

const TAG: usize = 8;
/// The longest text that is authenticated in one run with what comes before it.
const HELD: usize = 64;
/// Bytes of eight texts of several keys, from which on lanes run them.
const LANES: usize = 769;

/// The nonce and the text of message `i`: no other's.
fn message(i: usize, len: usize) -> ([u8; 12], Vec<u8>) {
    let mut random = Random::new(i as u64);
    (random.bytes(12).try_into().unwrap(), random.bytes(len))
}

/// Encrypts messages with `aad` and texts of these lengths together, under each of the keys in turn, and
/// decrypts them again.
fn check(machine: Machine, keys: &[EncryptKey], aad: &[u8], lengths: &[(usize, usize)]) {
    let messages = || {
        lengths
            .iter()
            .enumerate()
            .map(|(i, &(_, len))| message(i, len))
    };
    let mut texts: Vec<_> = messages().map(|(_, text)| text).collect();
    let keyed = || keys.iter().cycle();
    let tags = run(machine, encrypt_many, &mut texts, keyed(), aad, lengths);
    for ((((tag, text), key), &(aad_len, text_len)), (nonce, mut expected)) in tags
        .iter()
        .zip(&texts)
        .zip(keyed())
        .zip(lengths)
        .zip(messages())
    {
        let expected_tag = ccm::encrypt(key, &nonce, TAG, &aad[..aad_len], &mut expected);
        assert_eq!(*tag, expected_tag, "{aad_len} and {text_len} bytes");
        assert_eq!(*text, expected, "{aad_len} and {text_len} bytes");
    }
    let again = run(machine, decrypt_many, &mut texts, keyed(), aad, lengths);
    assert_eq!(tags, again);
    assert!(texts.into_iter().eq(messages().map(|(_, text)| text)));
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
        .enumerate()
        .map(|(i, ((text, key), &(aad_len, _)))| Job {
            source: text.as_ptr(),
            target: text.as_mut_ptr(),
            len: text.len(),
            aad: aad[..aad_len].as_ptr(),
            aad_len,
            key,
            nonce: Nonce::new(&message(i, 0).0),
            tag_len: TAG,
            tag: [0; 16],
        })
        .collect();
    // SAFETY: in place, each on a vector of its own.
    unsafe { many(machine, &mut jobs) };
    jobs.iter().map(|job| job.tag).collect()
}

/// Few messages and more than fit lanes, of a few shapes and of many, under one key and under several.
fn puts_messages_of_several_shapes_in_order(machine: Machine) {
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
    for (number, kinds) in (0..70).zip((1..=shapes.len()).cycle()) {
        let lengths: Vec<_> = (0..number + 2)
            .map(|_| shapes[random.below(kinds)])
            .collect();
        check(machine, &keys[..1], &aad, &lengths);
        check(machine, &keys, &aad, &lengths);
    }
}

per_tier!(
    hashes_additional_data_of_any_length,
    puts_messages_of_several_shapes_in_order
);

fn hashes_additional_data_of_any_length(machine: Machine) {
    let keys = [1, 2].map(|first| EncryptKey::new(machine, &[first; 16]).unwrap());
    let aad = Random::new(1).bytes(66_000);
    for len in (0..100).chain([65_279, 65_280, 65_281, 65_536, 66_000]) {
        check(machine, &keys[..1], &aad, &[(len, 33)]);
        // Next to others that have more and fewer pieces.
        let lengths = [
            (len, 33),
            (0, 16),
            (len, 0),
            (14, HELD),
            (len / 2, 300),
            (len, 16),
            (3, HELD + 1),
            (len, 40),
        ];
        check(machine, &keys[..1], &aad, &lengths);
        // In lanes, for which several keys and so many bytes are on every machine.
        let lengths = lengths.map(|(aad_len, len)| (aad_len, LANES + len));
        check(machine, &keys, &aad, &lengths);
    }
    let lengths: Vec<_> = (0..45).map(|i| (7 * i % 61, 13 * i % 90)).collect();
    check(machine, &keys[..1], &aad, &lengths);
}
