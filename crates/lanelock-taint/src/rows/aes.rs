//! AES in every mode, with the key schedules.

#![allow(unsafe_code)] // kernels take raw memory

use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::{Direction, siv as gcm_siv};
use lanelock_kernels::aes::{
    DecryptKey, EncryptKey, Part, cbc, ccm, cfb, ctr, ecb, gcm, mac, ofb, siv, xts,
};

use super::Row;
use crate::inputs::{Inputs, Message};
use crate::tier::Tier;

const TIERS: &[Tier] = &[Tier::Portable, Tier::AesNi, Tier::Vaes256, Tier::Avx512];

/// A mode: messages are turned in place, tags returned.
struct Mode {
    name: &'static str,
    /// Key lengths in bytes.
    keys: &'static [usize],
    /// Messages have multiples of this, and at least the second.
    lengths: (usize, usize),
    many: fn(Machine, &mut [Message]) -> Vec<Vec<u8>>,
}

const KEYS: &[usize] = &[16, 24, 32];
const TWO_KEYS: &[usize] = &[32, 64];
const SIV_KEYS: &[usize] = &[32, 48, 64];
const GCM_SIV_KEYS: &[usize] = &[16, 32];
const BLOCKS: (usize, usize) = (16, 16);
const BYTES: (usize, usize) = (1, 0);

const MODES: &[Mode] = &[
    mode("CBC encrypt", KEYS, BLOCKS, cbc_encrypt),
    mode("CBC decrypt", KEYS, BLOCKS, cbc_decrypt),
    mode("CTR", KEYS, BYTES, ctr_many),
    mode("CFB encrypt", KEYS, BYTES, cfb_encrypt),
    mode("CFB decrypt", KEYS, BYTES, cfb_decrypt),
    mode("OFB", KEYS, BYTES, ofb_many),
    mode("ECB encrypt", KEYS, BLOCKS, ecb_encrypt),
    mode("ECB decrypt", KEYS, BLOCKS, ecb_decrypt),
    mode("XTS encrypt", TWO_KEYS, (1, 16), xts_encrypt),
    mode("XTS decrypt", TWO_KEYS, (1, 16), xts_decrypt),
    mode("CMAC", KEYS, BYTES, cmac),
    mode("GCM encrypt", KEYS, BYTES, gcm_encrypt),
    mode("GCM decrypt", KEYS, BYTES, gcm_decrypt),
    mode("GCM encrypt, IV of 16", KEYS, BYTES, gcm_long_iv),
    mode("GCM encrypt in parts", KEYS, BYTES, gcm_parts),
    mode("GMAC", KEYS, BYTES, gmac),
    mode("GCM-SIV encrypt", GCM_SIV_KEYS, BYTES, gcm_siv_encrypt),
    mode("GCM-SIV decrypt", GCM_SIV_KEYS, BYTES, gcm_siv_decrypt),
    mode("SIV encrypt", SIV_KEYS, BYTES, siv_encrypt),
    mode("SIV decrypt", SIV_KEYS, BYTES, siv_decrypt),
    mode("CCM encrypt", KEYS, BYTES, ccm_encrypt),
    mode("CCM decrypt", KEYS, BYTES, ccm_decrypt),
];

const fn mode(
    name: &'static str,
    keys: &'static [usize],
    lengths: (usize, usize),
    many: fn(Machine, &mut [Message]) -> Vec<Vec<u8>>,
) -> Mode {
    Mode {
        name,
        keys,
        lengths,
        many,
    }
}

pub fn rows() -> Vec<Row> {
    let rows = |mode: &'static Mode| {
        mode.keys.iter().map(move |&key| {
            let bits = 8 * key / (mode.keys[0] / 16);
            let run = move |tier, inputs: &mut Inputs| run(mode, tier, inputs, key);
            Row::new(format!("AES-{bits} {}", mode.name), TIERS, run)
        })
    };
    MODES.iter().flat_map(rows).collect()
}

fn run(mode: &Mode, tier: Tier, inputs: &mut Inputs, key: usize) -> Vec<Vec<u8>> {
    let machine = tier.machine().expect("a tier of the row that can run");
    let (unit, least) = mode.lengths;
    let mut outputs = Vec::new();
    for mut burst in inputs.bursts(key, unit, least) {
        let tags = (mode.many)(machine, &mut burst);
        outputs.extend(burst.into_iter().map(|message| message.data));
        outputs.extend(tags.into_iter().filter(|tag| !tag.is_empty()));
    }
    outputs
}

fn expanded(machine: Machine, key: &[u8]) -> EncryptKey {
    EncryptKey::new(machine, key).expect("a key length of AES")
}

fn schedules(machine: Machine, burst: &[Message]) -> Vec<EncryptKey> {
    burst
        .iter()
        .map(|message| expanded(machine, &message.key))
        .collect()
}

fn inverse(keys: &[EncryptKey]) -> Vec<DecryptKey> {
    keys.iter().map(DecryptKey::new).collect()
}

/// One job for each message, made by the expression.
macro_rules! jobs {
    ($burst:ident, |$message:ident, $i:ident| $job:expr) => {
        $burst
            .iter_mut()
            .enumerate()
            .map(|($i, $message)| $job)
            .collect::<Vec<_>>()
    };
}

fn cbc_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let mut jobs = jobs!(burst, |message, i| Part {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
        iv: message.iv,
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { cbc::encrypt_many(machine, &mut jobs) };
    jobs.iter().map(|job| job.iv.to_vec()).collect()
}

fn cbc_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = inverse(&schedules(machine, burst));
    let mut jobs = jobs!(burst, |message, i| Part {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
        iv: message.iv,
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { cbc::decrypt_many(machine, &mut jobs) };
    jobs.iter().map(|job| job.iv.to_vec()).collect()
}

fn ctr_many(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let mut jobs = jobs!(burst, |message, i| ctr::Job {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
        counter: message.iv,
        used: 0,
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { ctr::apply_many(machine, &mut jobs) };
    Vec::new()
}

fn feedback(
    machine: Machine,
    burst: &mut [Message],
    many: unsafe fn(Machine, &mut [Part<'_, EncryptKey>]),
) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let mut jobs = jobs!(burst, |message, i| Part {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
        iv: message.iv,
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { many(machine, &mut jobs) };
    // A message that is shorter than a block leaves the IV as it was.
    let chained = jobs.iter().filter(|job| job.len >= job.iv.len());
    chained.map(|job| job.iv.to_vec()).collect()
}

fn cfb_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    feedback(machine, burst, cfb::encrypt_many)
}

fn cfb_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    feedback(machine, burst, cfb::decrypt_many)
}

fn ofb_many(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    feedback(machine, burst, ofb::apply_many)
}

fn ecb_jobs<'k, Key>(burst: &mut [Message], keys: &'k [Key]) -> Vec<ecb::Job<'k, Key>> {
    jobs!(burst, |message, i| ecb::Job {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
    })
}

fn ecb_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    // SAFETY: each message is a vector of its own, in place.
    unsafe { ecb::encrypt_many(machine, &ecb_jobs(burst, &keys)) };
    Vec::new()
}

fn ecb_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = inverse(&schedules(machine, burst));
    // SAFETY: each message is a vector of its own, in place.
    unsafe { ecb::decrypt_many(machine, &ecb_jobs(burst, &keys)) };
    Vec::new()
}

fn xts_jobs<'k, Key>(
    burst: &mut [Message],
    keys: &'k [Key],
    tweak_keys: &'k [EncryptKey],
) -> Vec<xts::Job<'k, Key>> {
    jobs!(burst, |message, i| xts::Job {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        key: &keys[i],
        tweak_key: &tweak_keys[i],
        tweak: message.iv,
        begun: false,
    })
}

/// The schedules of the data and of the tweaks.
fn halves(machine: Machine, burst: &[Message]) -> (Vec<EncryptKey>, Vec<EncryptKey>) {
    let pair = |message: &Message| {
        let (data, tweak) = message.key.split_at(message.key.len() / 2);
        (expanded(machine, data), expanded(machine, tweak))
    };
    burst.iter().map(pair).unzip()
}

fn xts_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let (keys, tweak_keys) = halves(machine, burst);
    // SAFETY: each message is a vector of its own, in place.
    unsafe { xts::encrypt_many(machine, &mut xts_jobs(burst, &keys, &tweak_keys)) };
    Vec::new()
}

fn xts_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let (keys, tweak_keys) = halves(machine, burst);
    let keys = inverse(&keys);
    // SAFETY: each message is a vector of its own, in place.
    unsafe { xts::decrypt_many(machine, &mut xts_jobs(burst, &keys, &tweak_keys)) };
    Vec::new()
}

fn cmac(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let subkeys: Vec<_> = keys
        .iter()
        .map(|key| mac::Subkeys::new(machine, key))
        .collect();
    let mut jobs = jobs!(burst, |message, i| mac::Job {
        source: message.data.as_ptr(),
        len: message.data.len(),
        key: &keys[i],
        subkeys: Some(&subkeys[i]),
        chain: [0; 16],
    });
    // SAFETY: each message is a vector of its own.
    unsafe { mac::authenticate_many(machine, &mut jobs) };
    jobs.iter().map(|job| job.chain.to_vec()).collect()
}

/// An IV of twelve bytes, as protocols have it.
fn short_iv(message: &Message) -> &[u8; 12] {
    message.iv.first_chunk().expect("16 bytes")
}

fn gcm_keys(machine: Machine, burst: &[Message]) -> Vec<gcm::Key> {
    let key =
        |message: &Message| gcm::Key::new(machine, &message.key).expect("a key length of AES");
    burst.iter().map(key).collect()
}

fn gcm_jobs<'k>(
    burst: &mut [Message],
    keys: &'k [gcm::Key],
    j0: impl Fn(&gcm::Key, &Message) -> [u8; 16],
) -> Vec<gcm::Job<'k>> {
    jobs!(burst, |message, i| gcm::Job {
        j0: j0(&keys[i], message),
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        aad: message.aad.as_ptr(),
        aad_len: message.aad.len(),
        key: &keys[i],
        place: std::ptr::null_mut(),
        tag: [0; 16],
    })
}

fn gcm_tags(jobs: &[gcm::Job<'_>]) -> Vec<Vec<u8>> {
    jobs.iter().map(|job| job.tag.to_vec()).collect()
}

fn gcm_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = gcm_keys(machine, burst);
    let mut jobs = gcm_jobs(burst, &keys, |_, message| {
        gcm::j0_of_iv12(short_iv(message))
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { gcm::encrypt_many(machine, &mut jobs) };
    gcm_tags(&jobs)
}

fn gcm_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = gcm_keys(machine, burst);
    let mut jobs = gcm_jobs(burst, &keys, |_, message| {
        gcm::j0_of_iv12(short_iv(message))
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { gcm::decrypt_many(machine, &mut jobs) };
    gcm_tags(&jobs)
}

fn gcm_long_iv(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = gcm_keys(machine, burst);
    let mut jobs = gcm_jobs(burst, &keys, |key, message| key.j0(&machine, &message.iv));
    // SAFETY: each message is a vector of its own, in place.
    unsafe { gcm::encrypt_many(machine, &mut jobs) };
    gcm_tags(&jobs)
}

/// Parts of seven bytes, one of whole blocks, and the rest.
fn gcm_parts(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = gcm_keys(machine, burst);
    let turn = |(message, key): (&mut Message, &gcm::Key)| {
        let j0 = gcm::j0_of_iv12(short_iv(message));
        let len = message.data.len();
        let mut stream = gcm::Stream::new(machine, key, j0);
        stream.aad(&message.aad);
        let (head, rest) = message.data.split_at_mut(len.min(7));
        let (middle, tail) = rest.split_at_mut(rest.len() / 2);
        for part in [head, middle, tail] {
            let target = part.as_mut_ptr();
            // SAFETY: the part is a slice, in place.
            unsafe { stream.update(Direction::Encrypt, target, target, part.len()) };
        }
        stream.finish().to_vec()
    };
    burst.iter_mut().zip(&keys).map(turn).collect()
}

fn gmac(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    let keys = gcm_keys(machine, burst);
    let mut jobs = gcm_jobs(burst, &keys, |_, message| {
        gcm::j0_of_iv12(short_iv(message))
    });
    for (job, message) in jobs.iter_mut().zip(&*burst) {
        (job.aad, job.aad_len, job.len) = (message.data.as_ptr(), message.data.len(), 0);
    }
    // SAFETY: each message is a vector of its own; nothing is written.
    unsafe { gcm::encrypt_many(machine, &mut jobs) };
    gcm_tags(&jobs)
}

fn gcm_siv_turn(
    machine: Machine,
    burst: &mut [Message],
    many: unsafe fn(Machine, &mut [gcm_siv::Job<'_>]),
) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let mut jobs = jobs!(burst, |message, i| gcm_siv::Job {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        aad: message.aad.as_ptr(),
        aad_len: message.aad.len(),
        key: &keys[i],
        nonce: *short_iv(message),
        tag: message.iv,
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { many(machine, &mut jobs) };
    jobs.iter().map(|job| job.tag.to_vec()).collect()
}

fn gcm_siv_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    gcm_siv_turn(machine, burst, gcm_siv::encrypt_many)
}

fn gcm_siv_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    gcm_siv_turn(machine, burst, gcm_siv::decrypt_many)
}

/// Every other message has a nonce.
fn siv_turn(
    machine: Machine,
    burst: &mut [Message],
    many: unsafe fn(Machine, &mut [siv::Job<'_>]),
) -> Vec<Vec<u8>> {
    let key = |message: &Message| siv::Key::new(machine, &message.key).expect("two keys of AES");
    let keys: Vec<_> = burst.iter().map(key).collect();
    let mut jobs = jobs!(burst, |message, i| {
        let nonce = (i % 2 == 0).then_some(&message.iv[..]);
        let mut job = siv::Job::new(&keys[i], message.aad.as_slice(), nonce, message.iv);
        job.source = message.data.as_ptr();
        job.target = message.data.as_mut_ptr();
        job.len = message.data.len();
        job
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { many(machine, &mut jobs) };
    jobs.iter().map(|job| job.tag.to_vec()).collect()
}

/// The tag has been made public: text is encrypted under it.
fn siv_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    siv_turn(machine, burst, siv::encrypt_many);
    Vec::new()
}

fn siv_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    siv_turn(machine, burst, siv::decrypt_many)
}

const CCM_TAG: usize = 12;

fn ccm_turn(
    machine: Machine,
    burst: &mut [Message],
    many: unsafe fn(Machine, &mut [ccm::Job<'_>]),
) -> Vec<Vec<u8>> {
    let keys = schedules(machine, burst);
    let nonces: Vec<_> = burst.iter().map(|message| message.iv).collect();
    let mut jobs = jobs!(burst, |message, i| ccm::Job {
        source: message.data.as_ptr(),
        target: message.data.as_mut_ptr(),
        len: message.data.len(),
        aad: message.aad.as_ptr(),
        aad_len: message.aad.len(),
        key: &keys[i],
        nonce: ccm::Nonce::new(&nonces[i][..13]),
        tag_len: CCM_TAG,
        tag: [0; 16],
    });
    // SAFETY: each message is a vector of its own, in place.
    unsafe { many(machine, &mut jobs) };
    jobs.iter().map(|job| job.tag[..CCM_TAG].to_vec()).collect()
}

fn ccm_encrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    ccm_turn(machine, burst, ccm::encrypt_many)
}

fn ccm_decrypt(machine: Machine, burst: &mut [Message]) -> Vec<Vec<u8>> {
    ccm_turn(machine, burst, ccm::decrypt_many)
}
