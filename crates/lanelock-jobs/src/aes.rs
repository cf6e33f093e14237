//! AES without authentication, and its MACs.

use lanelock_kernels::Machine;
use lanelock_kernels::aes::{
    self, BLOCK, DecryptKey, EncryptKey, KeySize, Part, Piece, Records, key::Schedule,
};
use lanelock_kernels::aes::{cbc, cfb, ctr, ecb, mac, ofb, xts};

use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::reference::aes as reference;

table! {
    cbc_encrypt: Row {
        unit: BLOCK,
        has_paces: true,
        ..parts("AES-* CBC encrypt", Clone::clone, cbc::encrypt_many, reference::cbc::encrypt)
    },
    cbc_encrypt_pieces: Row {
        has_paces: true,
        ..pieces("AES-* CBC encrypt", Clone::clone, cbc::encrypt_many, reference::cbc::encrypt)
    },
    cbc_decrypt: Row {
        unit: BLOCK,
        ..parts("AES-* CBC decrypt", DecryptKey::new, cbc::decrypt_many, reference::cbc::decrypt)
    },
    cbc_decrypt_pieces:
        pieces("AES-* CBC decrypt", DecryptKey::new, cbc::decrypt_many, reference::cbc::decrypt),
    ctr_parts,
    ctr_pieces: Row {
        secret_from: usize::MAX,
        ..pieces("AES-* CTR", Clone::clone, ctr::apply_parts, count)
    },
    ctr_of_whole_messages: whole("AES-* CTR, whole messages", Clone::clone, ctr_of_whole, count_whole),
    ctr_fed: whole("AES-* CTR, fed", Clone::clone, ctr_fed_with, count_whole),
    cbc_decrypt_fed: Row {
        unit: BLOCK,
        ..whole("AES-* CBC decrypt, fed", DecryptKey::new, cbc_fed_with, reference::cbc::decrypt)
    },
    cfb_encrypt: Row {
        has_paces: true,
        ..parts("AES-* CFB encrypt", Clone::clone, cfb::encrypt_many, reference::cfb::encrypt)
    },
    cfb_encrypt_pieces: Row {
        has_paces: true,
        ..pieces("AES-* CFB encrypt", Clone::clone, cfb::encrypt_many, reference::cfb::encrypt)
    },
    cfb_decrypt:
        parts("AES-* CFB decrypt", Clone::clone, cfb::decrypt_many, reference::cfb::decrypt),
    cfb_decrypt_pieces:
        pieces("AES-* CFB decrypt", Clone::clone, cfb::decrypt_many, reference::cfb::decrypt),
    ofb: Row {
        has_paces: true,
        ..parts("AES-* OFB", Clone::clone, ofb::apply_many, reference::ofb::apply)
    },
    ofb_pieces: Row {
        has_paces: true,
        ..pieces("AES-* OFB", Clone::clone, ofb::apply_many, reference::ofb::apply)
    },
    ofb_of_whole_messages: Row {
        has_paces: true,
        ..whole("AES-* OFB, whole messages", Clone::clone, ofb_of_whole, reference::ofb::apply)
    },
    ecb_encrypt:
        books("AES-* ECB encrypt", Clone::clone, ecb::encrypt_many, reference::encrypt_block),
    ecb_decrypt:
        books("AES-* ECB decrypt", DecryptKey::new, ecb::decrypt_many, reference::decrypt_block),
    ecb_encrypt_fed:
        books("AES-* ECB encrypt, fed", Clone::clone, ecb_encrypt_fed_with, reference::encrypt_block),
    ecb_decrypt_fed:
        books("AES-* ECB decrypt, fed", DecryptKey::new, ecb_decrypt_fed_with, reference::decrypt_block),
    xts_encrypt:
        sectors("AES-* XTS encrypt", Clone::clone, xts::encrypt_many, reference::xts::encrypt),
    xts_decrypt:
        sectors("AES-* XTS decrypt", DecryptKey::new, xts::decrypt_many, reference::xts::decrypt),
    cmac: macs("AES-* CMAC", true),
    cmac_pieces,
    cbc_mac: macs("AES-* CBC-MAC", false),
}

/// A row of AES under one key.
pub(super) fn row(
    name: &str,
    prepare: impl Fn(Machine, &Burst<'_>, Then<'_>) + 'static,
    reference: impl Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8> + 'static,
) -> Row {
    Row {
        keys: vec![16, 24, 32],
        number: |bytes| 8 * bytes,
        ..Row::new(name, Registers::Blocks, prepare, reference)
    }
}

pub(super) fn expanded(machine: Machine, key: &[u8]) -> EncryptKey {
    EncryptKey::new(machine, key).expect("a key length of AES")
}

/// For references, which do without a machine.
pub(super) fn portable(key: &[u8]) -> EncryptKey {
    EncryptKey::portable(key).expect("a key length of AES")
}

/// A mode with an IV, which a message's parts hand on.
fn parts<Key: 'static>(
    name: &str,
    schedule: fn(&EncryptKey) -> Key,
    many: unsafe fn(Machine, &mut [Part<'_, Key>]),
    reference: fn(&EncryptKey, &mut [u8; BLOCK], &mut [u8]),
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| schedule(&expanded(machine, key)));
        burst.each_time(
            then,
            |message| Part {
                source: message.source,
                target: message.target,
                len: message.len,
                more: &[],
                key: &keys[message.given.key],
                iv: message.given.iv(),
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, job| job.iv.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let mut iv = given.iv();
        reference(&portable(key), &mut iv, text);
        iv.to_vec()
    };
    Row {
        tags: vec![BLOCK],
        secret_from: BLOCK, // a shorter message leaves the IV as it was
        ..row(name, prepare, reference)
    }
}

/// [`parts`] in pieces of one to five blocks.
fn pieces<Key: 'static>(
    name: &str,
    schedule: fn(&EncryptKey) -> Key,
    many: unsafe fn(Machine, &mut [Part<'_, Key>]),
    reference: fn(&EncryptKey, &mut [u8; BLOCK], &mut [u8]),
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| schedule(&expanded(machine, key)));
        burst.each_time(
            then,
            |message| (message, message.given.iv()),
            |jobs| {
                let pieces: Vec<_> = jobs.iter().map(|(message, _)| cut(message)).collect();
                let mut parts = Vec::with_capacity(jobs.len());
                for (&mut (message, iv), pieces) in jobs.iter_mut().zip(&pieces) {
                    parts.push(Part {
                        source: pieces[0].source,
                        target: pieces[0].target,
                        len: pieces[0].len,
                        more: &pieces[1..],
                        key: &keys[message.given.key],
                        iv,
                    });
                }
                // SAFETY: pieces of messages, whose memory is borrowed for their lengths.
                unsafe { many(machine, &mut parts) };
                for ((_, iv), part) in jobs.iter_mut().zip(&parts) {
                    *iv = part.iv;
                }
            },
            |_, (_, iv)| iv.to_vec(),
        );
    };
    Row {
        unit: BLOCK,
        prepare: Box::new(prepare),
        ..parts(&format!("{name}, pieces"), schedule, many, reference)
    }
}

/// Pieces of one to five blocks, the last as long as it has to be; at least one.
fn cut(message: &Message<'_>) -> Vec<Piece> {
    let (mut at, mut pieces) = (0, Vec::new());
    while at < message.len || pieces.is_empty() {
        let len = (pieces.len() % 5 + 1) * BLOCK;
        pieces.push(Piece {
            source: message.source.wrapping_add(at),
            target: message.target.wrapping_add(at),
            len: len.min(message.len - at),
        });
        at += len;
    }
    pieces
}

/// CTR, and the counter block that comes next.
fn count(key: &EncryptKey, counter: &mut [u8; BLOCK], text: &mut [u8]) {
    reference::ctr::apply(key, *counter, text);
    let blocks = u128::from_be_bytes(*counter).wrapping_add((text.len() / BLOCK) as u128);
    *counter = blocks.to_be_bytes();
}

/// CTR as parts have it. What they hand on is public.
fn ctr_parts() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| expanded(machine, key));
        burst.each_time(
            then,
            |message| ctr::Job {
                source: message.source,
                target: message.target,
                len: message.len,
                key: &keys[message.given.key],
                counter: message.given.iv(),
                used: 0,
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { ctr::apply_many(machine, jobs) },
            |_, job| job.counter.to_vec(),
        );
    };
    let reference = |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let mut counter = given.iv();
        count(&portable(key), &mut counter, text);
        counter.to_vec()
    };
    Row {
        tags: vec![BLOCK],
        secret_from: usize::MAX,
        ..row("AES-* CTR", prepare, reference)
    }
}

/// A mode with an IV that stays as it is.
fn whole<Key: Schedule + 'static>(
    name: &str,
    schedule: fn(&EncryptKey) -> Key,
    many: fn(Machine, KeySize, Vec<aes::Message<'_, Key>>),
    reference: fn(&EncryptKey, &mut [u8; BLOCK], &mut [u8]),
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| schedule(&expanded(machine, key)));
        let of = |message: &&Message<'_>| aes::Message {
            source: message.source,
            target: message.target,
            len: message.len.try_into().expect("below 4 GiB"),
            key: &keys[message.given.key],
            iv: message.given.iv.as_ptr().cast(),
        };
        burst.each_time(
            then,
            |message| message,
            |messages| {
                many(
                    machine,
                    keys[0].key_size(),
                    messages.iter().map(of).collect(),
                )
            },
            |message, _| message.given.iv.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        reference(&portable(key), &mut given.iv(), text);
        given.iv.to_vec()
    };
    Row {
        tags: vec![BLOCK],
        secret_from: usize::MAX,
        ..row(name, prepare, reference)
    }
}

fn ctr_of_whole(machine: Machine, size: KeySize, messages: Vec<aes::Message<'_, EncryptKey>>) {
    // SAFETY: of messages, whose memory is borrowed for their lengths, and IVs of a block.
    unsafe { ctr::apply_each(machine, size, messages.into_iter()) };
}

fn ctr_fed_with(machine: Machine, size: KeySize, messages: Vec<aes::Message<'_, EncryptKey>>) {
    let len = messages.first().map_or(0, |first| first.len);
    // SAFETY: as for whole messages.
    unsafe { ctr::apply_fed(machine, size, len, messages.into_iter()) };
}

fn cbc_fed_with(machine: Machine, size: KeySize, messages: Vec<aes::Message<'_, DecryptKey>>) {
    let len = messages.first().map_or(0, |first| first.len);
    // SAFETY: as for whole messages, of whole blocks.
    unsafe { cbc::decrypt_fed(machine, size, len, messages.into_iter()) };
}

fn count_whole(key: &EncryptKey, iv: &mut [u8; BLOCK], text: &mut [u8]) {
    reference::ctr::apply(key, *iv, text);
}

fn ofb_of_whole(machine: Machine, size: KeySize, messages: Vec<aes::Message<'_, EncryptKey>>) {
    if let Some(records) = Records::of(&messages) {
        // SAFETY: of messages, whose memory is borrowed for their lengths, and IVs of a block.
        unsafe { ofb::apply_records(machine, size, &records) };
    }
}

macro_rules! books_fed {
    ($($name:ident, $key:ty, $fed:path;)*) => {$(
        /// # Safety
        /// As for messages that are in memory.
        unsafe fn $name(machine: Machine, messages: &[aes::Message<'_, $key>]) {
            let Some(first) = messages.first() else {
                return;
            };
            let each = messages
                .iter()
                .map(|m| aes::Message::without_iv(m.source, m.target, m.len as usize, m.key));
            // SAFETY: the caller's promise.
            unsafe { $fed(machine, first.key.key_size(), first.len, each) };
        }
    )*};
}
books_fed! {
    ecb_encrypt_fed_with, EncryptKey, ecb::encrypt_fed;
    ecb_decrypt_fed_with, DecryptKey, ecb::decrypt_fed;
}

/// ECB: a code book for each message.
fn books<Key: 'static>(
    name: &str,
    schedule: fn(&EncryptKey) -> Key,
    many: unsafe fn(Machine, &[aes::Message<'_, Key>]),
    reference: fn(&EncryptKey, [u8; BLOCK]) -> [u8; BLOCK],
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| schedule(&expanded(machine, key)));
        burst.each_time(
            then,
            |message| {
                let key = &keys[message.given.key];
                aes::Message::without_iv(message.source, message.target, message.len, key)
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, _| Vec::new(),
        );
    };
    let reference = move |key: &[u8], _: &Given<'_>, text: &mut [u8]| {
        let key = portable(key);
        for block in text.as_chunks_mut().0 {
            *block = reference(&key, *block);
        }
        Vec::new()
    };
    Row {
        unit: BLOCK,
        ..row(name, prepare, reference)
    }
}

/// XTS: a key for the sectors, one for the tweaks.
fn sectors<Key: 'static>(
    name: &str,
    schedule: fn(&EncryptKey) -> Key,
    many: unsafe fn(Machine, &mut [xts::Job<'_, Key>]),
    reference: fn(&EncryptKey, &EncryptKey, [u8; BLOCK], &mut [u8]),
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| {
            let (sectors, tweaks) = key.split_at(key.len() / 2);
            (
                schedule(&expanded(machine, sectors)),
                expanded(machine, tweaks),
            )
        });
        burst.each_time(
            then,
            |message| {
                let (key, tweak_key) = &keys[message.given.key];
                xts::Job {
                    source: message.source,
                    target: message.target,
                    len: message.len,
                    key,
                    tweak_key,
                    tweak: message.given.iv(),
                    begun: false,
                }
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { many(machine, jobs) },
            |_, _| Vec::new(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let (sectors, tweaks) = key.split_at(key.len() / 2);
        reference(&portable(sectors), &portable(tweaks), given.iv(), text);
        Vec::new()
    };
    Row {
        keys: vec![32, 64],
        number: |bytes| 4 * bytes,
        least: BLOCK,
        ..row(name, prepare, reference)
    }
}

/// CMAC, or CBC-MAC from the IV on.
fn macs(name: &str, is_cmac: bool) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| {
            let key = expanded(machine, key);
            let subkeys = is_cmac.then(|| mac::Subkeys::new(machine, &key));
            (key, subkeys)
        });
        burst.each_time(
            then,
            |message| {
                let (key, subkeys) = &keys[message.given.key];
                mac::Job {
                    source: message.source,
                    len: message.len,
                    more: &[],
                    key,
                    subkeys: subkeys.as_ref(),
                    chain: if is_cmac {
                        [0; BLOCK]
                    } else {
                        message.given.iv()
                    },
                }
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { mac::authenticate_many(machine, jobs) },
            |_, job| job.chain.to_vec(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let tag = if is_cmac {
            reference::mac::cmac(&portable(key), text)
        } else {
            reference::mac::cbc_mac(&portable(key), given.iv(), text)
        };
        tag.to_vec()
    };
    Row {
        tags: vec![BLOCK],
        writes: false,
        has_paces: true,
        ..row(name, prepare, reference)
    }
}

/// CMAC of messages in pieces of one to five blocks.
fn cmac_pieces() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| {
            let key = expanded(machine, key);
            (mac::Subkeys::new(machine, &key), key)
        });
        burst.each_time(
            then,
            |message| (message, [0; BLOCK]),
            |jobs| {
                let pieces: Vec<_> = jobs.iter().map(|(message, _)| cut(message)).collect();
                let mut macs = Vec::with_capacity(jobs.len());
                for ((message, _), pieces) in jobs.iter().zip(&pieces) {
                    let (subkeys, key) = &keys[message.given.key];
                    macs.push(mac::Job {
                        source: pieces[0].source,
                        len: pieces[0].len,
                        more: &pieces[1..],
                        key,
                        subkeys: Some(subkeys),
                        chain: [0; BLOCK],
                    });
                }
                // SAFETY: pieces of messages, whose memory is borrowed for their lengths.
                unsafe { mac::authenticate_many(machine, &mut macs) };
                for ((_, tag), mac) in jobs.iter_mut().zip(&macs) {
                    *tag = mac.chain;
                }
            },
            |_, (_, tag)| tag.to_vec(),
        );
    };
    Row {
        prepare: Box::new(prepare),
        ..macs("AES-* CMAC, pieces", true)
    }
}
