//! AES with authentication, and GMAC.

use core::slice;

use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::{self, siv as gcm_siv};
use lanelock_kernels::aes::{BLOCK, EncryptKey, Piece, ccm, siv};

use super::aes::{expanded, portable, row};
use super::{Burst, Given, Message, Row, Then, table};
use crate::reference::aes::{self as modes, siv as reference};

table! {
    gcm_encrypt: gcm("AES-* GCM encrypt", 12, encrypt_known, modes::gcm::encrypt),
    gcm_decrypt: gcm("AES-* GCM decrypt", 12, decrypt_known, modes::gcm::decrypt),
    gcm_encrypt_iv16:
        gcm("AES-* GCM encrypt, IV of 16", 16, encrypt_known, modes::gcm::encrypt),
    gcm_decrypt_iv16:
        gcm("AES-* GCM decrypt, IV of 16", 16, decrypt_known, modes::gcm::decrypt),
    gcm_encrypt_alone:
        gcm("AES-* GCM encrypt, each alone", 12, encrypt_each, modes::gcm::encrypt),
    gcm_decrypt_alone:
        gcm("AES-* GCM decrypt, each alone", 12, decrypt_each, modes::gcm::decrypt),
    gcm_in_parts,
    gmac: gmac_by("AES-* GMAC", 12, authenticate_known),
    gmac_iv16: gmac_by("AES-* GMAC, IV of 16", 16, authenticate_known),
    gmac_alone: gmac_by("AES-* GMAC, each alone", 12, authenticate_each),
    gmac_in_parts,
    gcm_siv_encrypt:
        gcm_siv("AES-* GCM-SIV encrypt", gcm_siv::encrypt_many, reference::gcm_siv_encrypt),
    gcm_siv_decrypt:
        gcm_siv("AES-* GCM-SIV decrypt", gcm_siv::decrypt_many, reference::gcm_siv_decrypt),
    siv_encrypt: Row {
        // Text is encrypted under the tag, which is public therefore.
        secret_from: usize::MAX,
        ..siv("AES-* SIV encrypt", true, siv::encrypt_many, reference::siv_encrypt)
    },
    siv_decrypt: siv("AES-* SIV decrypt", true, siv::decrypt_many, reference::siv_decrypt),
    siv_encrypt_without_nonce: Row {
        secret_from: usize::MAX,
        ..siv("AES-* SIV encrypt, no nonce", false, siv::encrypt_many, reference::siv_encrypt)
    },
    siv_decrypt_without_nonce:
        siv("AES-* SIV decrypt, no nonce", false, siv::decrypt_many, reference::siv_decrypt),
    ccm_encrypt: ccm("AES-* CCM encrypt", ccm::encrypt_many, modes::ccm::encrypt),
    ccm_decrypt: ccm("AES-* CCM decrypt", ccm::decrypt_many, modes::ccm::decrypt),
}

type CcmReference = fn(&EncryptKey, &[u8], usize, &[u8], &mut [u8]) -> [u8; BLOCK];
type GcmMany = unsafe fn(Machine, &mut [gcm::Job<'_>]);
type GmacMany = unsafe fn(Machine, &mut [gcm::MacJob<'_>]);
type GcmReference = fn(&EncryptKey, [u8; BLOCK], &[u8], &mut [u8]) -> [u8; BLOCK];

fn gcm_key(machine: Machine, key: &[u8]) -> gcm::Key {
    gcm::Key::new(machine, key).expect("a key length of AES")
}

fn gcm_job<'k>(machine: Machine, keys: &'k [gcm::Key], message: &Message<'_>) -> gcm::Job<'k> {
    let key = &keys[message.given.key];
    let iv = message.given.iv;
    let job = match <&[u8; 12]>::try_from(iv) {
        Ok(iv) => gcm::Job::new(key, iv),
        Err(_) => gcm::Job::of_block(key, *key.j0(&machine, iv).block()),
    };
    let aad = message.given.aad;
    job.text(message.source, message.target, message.len)
        .aad(aad.as_ptr(), aad.len())
}

fn gcm(name: &str, iv: usize, many: GcmMany, reference: GcmReference) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| gcm_key(machine, key));
        burst.each_time(
            then,
            |message| gcm_job(machine, &keys, message),
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.block.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let key = portable(key);
        let j0 = modes::gcm::j0(&key, given.iv);
        reference(&key, j0, given.aad, text).to_vec()
    };
    Row {
        ivs: vec![iv],
        tags: vec![BLOCK],
        has_aad: true,
        has_paces: true,
        ..row(name, prepare, reference)
    }
}

/// # Safety
/// As for [`gcm::encrypt_many`].
unsafe fn encrypt_known(machine: Machine, jobs: &mut [gcm::Job<'_>]) {
    let known = gcm::Known::of(jobs);
    // SAFETY: the caller's promise.
    unsafe { gcm::encrypt_many(&machine, jobs, known) }
}

/// # Safety
/// As for [`gcm::decrypt_many`].
unsafe fn decrypt_known(machine: Machine, jobs: &mut [gcm::Job<'_>]) {
    let known = gcm::Known::of(jobs);
    // SAFETY: the caller's promise.
    unsafe { gcm::decrypt_many(&machine, jobs, known) }
}

/// # Safety
/// As for [`gcm::encrypt_many`].
unsafe fn encrypt_each(machine: Machine, jobs: &mut [gcm::Job<'_>]) {
    for job in jobs {
        let kernel = gcm::LoneKernel::encrypting(&machine, job.key.cipher().size());
        // SAFETY: the caller's promise.
        unsafe { kernel.run(job) };
    }
}

/// # Safety
/// As for [`gcm::decrypt_many`].
unsafe fn decrypt_each(machine: Machine, jobs: &mut [gcm::Job<'_>]) {
    for job in jobs {
        let kernel = gcm::LoneKernel::decrypting(&machine, job.key.cipher().size());
        // SAFETY: the caller's promise.
        unsafe { kernel.run(job) };
    }
}

/// # Safety
/// As for [`gcm::authenticate_many`].
unsafe fn authenticate_known(machine: Machine, jobs: &mut [gcm::MacJob<'_>]) {
    let joins = |known, job: &gcm::MacJob<'_>| job.joins(&jobs[0], known);
    let known = jobs.iter().fold(gcm::MacJob::KNOWN, joins);
    // SAFETY: the caller's promise.
    unsafe { gcm::authenticate_many(&machine, jobs, known) }
}

/// # Safety
/// As for [`gcm::authenticate_many`].
unsafe fn authenticate_each(machine: Machine, jobs: &mut [gcm::MacJob<'_>]) {
    for job in jobs {
        // SAFETY: the caller's promise.
        unsafe { gcm::authenticate_lone(&machine, job) };
    }
}

fn gmac_key(machine: Machine, key: &[u8]) -> gcm::MacKey {
    gcm::MacKey::new(machine, key).expect("a key length of AES")
}

fn gmac_by(name: &str, iv: usize, many: GmacMany) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| gmac_key(machine, key));
        burst.each_time(
            then,
            |message| {
                let (key, iv) = (&keys[message.given.key], message.given.iv);
                let job = match <&[u8; 12]>::try_from(iv) {
                    Ok(iv) => gcm::MacJob::new(key, iv),
                    Err(_) => gcm::MacJob::of_block(key, *key.j0(&machine, iv).block()),
                };
                job.message(message.source, message.len)
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.tag().to_vec(),
        );
    };
    let reference = |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let key = portable(key);
        let j0 = modes::gcm::j0(&key, given.iv);
        modes::gcm::encrypt(&key, j0, text, &mut []).to_vec()
    };
    Row {
        ivs: vec![iv],
        tags: vec![BLOCK],
        writes: false,
        has_paces: true,
        ..row(name, prepare, reference)
    }
}

/// Two halves, the first of whole blocks.
fn gmac_in_parts() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| gmac_key(machine, key));
        burst.each_time(
            then,
            |message| (message, [0; BLOCK]),
            |jobs| {
                for (message, tag) in jobs {
                    let key = &keys[message.given.key];
                    // SAFETY: messages, whose memory is borrowed for their lengths.
                    let text = unsafe { slice::from_raw_parts(message.source, message.len) };
                    let (head, rest) = text.split_at(text.len() / 2 / BLOCK * BLOCK);
                    let mut hashed = [0; BLOCK];
                    key.absorb(&machine, &mut hashed, head);
                    key.absorb(&machine, &mut hashed, rest);
                    let j0 = key.j0(&machine, message.given.iv);
                    *tag = key.tag(&machine, &j0, hashed, text.len());
                }
            },
            |_, (_, tag)| tag.to_vec(),
        );
    };
    Row {
        name: "AES-* GMAC in parts".into(),
        prepare: Box::new(prepare),
        ..gmac_by("", 12, authenticate_known)
    }
}

/// A block, then two halves of the rest, the first of whole blocks.
fn gcm_in_parts() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| gcm_key(machine, key));
        let pieces = |message: &Message<'_>| {
            let head = message.len.min(BLOCK);
            let middle = (message.len - head) / 2 / BLOCK * BLOCK;
            let ends = [0, head, head + middle, message.len];
            let pieces = ends.windows(2).map(|part| Piece {
                source: message.source.wrapping_add(part[0]),
                target: message.target.wrapping_add(part[0]),
                len: part[1] - part[0],
            });
            pieces.filter(|piece| piece.len > 0).collect::<Vec<_>>()
        };
        burst.each_time(
            then,
            |message| (message, pieces(message), [0; BLOCK]),
            |jobs| {
                let mut parts: Vec<_> = jobs
                    .iter()
                    .map(|(message, pieces, hash)| {
                        let (key, aad) = (&keys[message.given.key], message.given.aad);
                        gcm::Part {
                            pieces,
                            aad: aad.as_ptr(),
                            aad_len: aad.len(),
                            key,
                            j0: key.j0(&machine, message.given.iv),
                            before: 0,
                            ends: Some([aad.len(), message.len]),
                            hash: *hash,
                        }
                    })
                    .collect();
                // SAFETY: pieces of messages, whose memory is borrowed for their lengths.
                unsafe { gcm::encrypt_parts(machine, &mut parts) };
                let tags: Vec<_> = parts.iter().map(|part| part.hash).collect();
                jobs.iter_mut().zip(tags).for_each(|(job, tag)| job.2 = tag);
            },
            |_, (.., tag)| tag.to_vec(),
        );
    };
    let whole = gcm("", 12, encrypt_known, modes::gcm::encrypt);
    Row {
        name: "AES-* GCM encrypt in parts".into(),
        prepare: Box::new(prepare),
        ..whole
    }
}

fn gcm_siv(
    name: &str,
    many: unsafe fn(Machine, &mut [gcm_siv::Job<'_>]),
    reference: fn(&EncryptKey, &Given<'_>, &mut [u8]) -> [u8; BLOCK],
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| expanded(machine, key));
        burst.each_time(
            then,
            |message| gcm_siv::Job {
                source: message.source,
                target: message.target,
                len: message.len,
                aad: message.given.aad.as_ptr(),
                aad_len: message.given.aad.len(),
                key: &keys[message.given.key],
                nonce: message.given.iv(),
                tag: message.given.tag(),
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.tag.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        reference(&portable(key), given, text).to_vec()
    };
    Row {
        has_paces: true,
        keys: vec![16, 32],
        ivs: vec![gcm_siv::NONCE],
        tags: vec![BLOCK],
        has_aad: true,
        ..row(name, prepare, reference)
    }
}

fn siv(
    name: &str,
    has_nonce: bool,
    many: unsafe fn(Machine, &mut [siv::Job<'_>]),
    reference: reference::Siv,
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| siv::Key::new(machine, key).expect("two keys of AES"));
        burst.each_time(
            then,
            |message| {
                let given = &message.given;
                let nonce = has_nonce.then_some(given.iv);
                let mut job = siv::Job::new(&keys[given.key], given.aad, nonce, given.tag());
                job.source = message.source;
                job.target = message.target;
                job.len = message.len;
                job
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.tag.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let nonce = has_nonce.then_some(given.iv);
        reference(key, given.aad, nonce, given.tag(), text).to_vec()
    };
    Row {
        keys: vec![32, 48, 64],
        number: |bytes| 4 * bytes,
        ivs: vec![16, 12, 0, 1, 15, 17, 31, 32, 33, siv::MAX_NONCE],
        tags: vec![BLOCK],
        has_aad: true,
        has_paces: true,
        ..row(name, prepare, reference)
    }
}

fn ccm(name: &str, many: unsafe fn(Machine, &mut [ccm::Job<'_>]), reference: CcmReference) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| expanded(machine, key));
        burst.each_time(
            then,
            |message| ccm::Job {
                source: message.source,
                target: message.target,
                len: message.len,
                aad: message.given.aad.as_ptr(),
                aad_len: message.given.aad.len(),
                key: &keys[message.given.key],
                nonce: ccm::Nonce::new(message.given.iv),
                tag_len: message.given.tag.len(),
                tag: [0; BLOCK],
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.tag[..job.tag_len].to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let len = given.tag.len();
        reference(&portable(key), given.iv, len, given.aad, text)[..len].to_vec()
    };
    Row {
        ivs: vec![12, 11, 13], // the last for messages below 64 KiB
        tags: vec![16, 4, 6, 8, 10, 12, 14],
        has_aad: true,
        has_paces: true,
        ..row(name, prepare, reference)
    }
}
