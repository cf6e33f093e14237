//! Messages longer than libcrypto's `int` can count, or than one update of several takes. They take
//! no memory: what is read is the kernel's page of zeros, what is written lies in the same pages
//! over and over.

#![allow(clippy::unwrap_used, missing_docs)] // a test
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::ptr;

use lanelock_core::{Aead, Buffer, Device, Mac, Op, Status, Transform};
use lanelock_openssl::OpenSsl;
use openssl::symm::{Cipher, Crypter, Mode};

const KEY: [u8; 16] = [7; 16];
const MIB: usize = 1 << 20;

/// A mapping, unmapped with its process.
fn map(len: usize, at: *mut libc::c_void, fd: i32, flags: i32) -> *mut libc::c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, or one in the place of a mapping that `map` has made.
    let at = unsafe { libc::mmap(at, len, access, flags, fd, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at
}

fn zeros(len: usize) -> &'static [u8] {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let at = map(len, ptr::null_mut(), -1, flags);
    // SAFETY: mapped for `len` bytes, zeros, and never written.
    unsafe { std::slice::from_raw_parts(at.cast(), len) }
}

/// Room for `len` bytes of which a mebibyte exists. It can be written, but not read back.
fn sink(len: usize) -> &'static mut [u8] {
    // SAFETY: a terminated name; the descriptor is checked.
    let fd = unsafe { libc::memfd_create(c"sink".as_ptr(), 0) };
    assert!(fd >= 0);
    // SAFETY: the descriptor is open.
    assert_eq!(unsafe { libc::ftruncate(fd, MIB.try_into().unwrap()) }, 0);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let rounded = len.next_multiple_of(MIB);
    let start = map(rounded, ptr::null_mut(), -1, flags);
    for at in (0..rounded).step_by(MIB) {
        let at = start.wrapping_byte_add(at);
        map(MIB, at, fd, libc::MAP_SHARED | libc::MAP_FIXED);
    }
    // SAFETY: mapped for `len` bytes and nobody else's. Nothing in it is read.
    unsafe { std::slice::from_raw_parts_mut(start.cast(), len) }
}

/// Feeds `len` zeros to `cipher`, hands on what it makes of each mebibyte.
fn stream(cipher: Cipher, iv: &[u8], len: usize, mut f: impl FnMut(&[u8])) {
    let mut crypter = Crypter::new(cipher, Mode::Encrypt, &KEY, Some(iv)).unwrap();
    let zeros = vec![0; MIB];
    let mut made = vec![0; MIB + 16];
    for at in (0..len).step_by(MIB) {
        let now = MIB.min(len - at);
        let made_now = crypter.update(&zeros[..now], &mut made).unwrap();
        f(&made[..made_now]);
    }
}

/// CCM's tag (NIST SP 800-38C) of 16 bytes for a payload of `len` bytes: zeros, or what zeros
/// decrypt to.
fn ccm_tag(nonce: &[u8; 11], len: u32, decrypted: bool) -> Vec<u8> {
    let first = [&[0x3b][..], nonce, &len.to_be_bytes()].concat();
    let counter = |n: u32| [&[3][..], nonce, &n.to_be_bytes()].concat();
    let mut mac = Crypter::new(Cipher::aes_128_cbc(), Mode::Encrypt, &KEY, Some(&[0; 16])).unwrap();
    mac.pad(false);
    let mut made = vec![0; MIB + 32];
    let mut add = |bytes: &[u8]| {
        let made_now = mac.update(bytes, &mut made).unwrap();
        made[..made_now].last_chunk::<16>().copied()
    };
    let mut last = add(&first);
    let mut add_padded = |bytes: &[u8]| {
        let padded = [
            bytes,
            &vec![0; bytes.len().next_multiple_of(16) - bytes.len()],
        ]
        .concat();
        last = add(&padded);
    };
    if decrypted {
        stream(Cipher::aes_128_ctr(), &counter(1), len as usize, add_padded);
    } else {
        let zeros = vec![0; MIB];
        for at in (0..len as usize).step_by(MIB) {
            add_padded(&zeros[..MIB.min(len as usize - at)]);
        }
    }
    let mut mask = [0; 16];
    stream(Cipher::aes_128_ctr(), &counter(0), 16, |bytes| {
        mask.copy_from_slice(bytes)
    });
    last.unwrap()
        .iter()
        .zip(mask)
        .map(|(byte, mask)| byte ^ mask)
        .collect()
}

/// One update of several takes 1 GiB; CCM has one update.
#[test]
fn ccm_takes_more_than_one_update_of_several() {
    ccm((1 << 30) + 17);
}

#[test]
#[ignore = "long; `make soak` runs it"]
fn ccm_takes_its_longest_message() {
    ccm(Aead::AesCcm.max_payload(11).unwrap());
}

fn ccm(len: u32) {
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let mut queue = device.queue_pair(1);
    let (input, output) = (zeros(len as usize), sink(len as usize));
    let nonce = [1; 11];

    let seal = device
        .session(Transform::seal(Aead::AesCcm, &KEY).iv_len(11))
        .unwrap();
    let mut tag = [0; 16];
    let mut ops = [Op::new(&seal, Buffer::separate(input, &mut *output))
        .iv(&nonce)
        .tag(&mut tag)];
    let _looked_at = queue.process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success, "{:?}", ops[0].error());
    assert_eq!(tag[..], ccm_tag(&nonce, len, false));

    let open = device
        .session(Transform::open(Aead::AesCcm, &KEY).iv_len(11))
        .unwrap();
    let tag = ccm_tag(&nonce, len, true);
    let mut ops = [Op::new(&open, Buffer::separate(input, output))
        .iv(&nonce)
        .expected_tag(&tag)];
    let _looked_at = queue.process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success, "{:?}", ops[0].error());
}

#[test]
fn gmac_takes_more_than_an_int_counts() {
    let input = zeros((1 << 31) + 100);
    let mut reference =
        Crypter::new(Cipher::aes_128_gcm(), Mode::Encrypt, &KEY, Some(&[2; 12])).unwrap();
    for part in input.chunks(MIB) {
        reference.aad_update(part).unwrap();
    }
    let mut expected = [0; 16];
    reference.finalize(&mut []).unwrap();
    reference.get_tag(&mut expected).unwrap();

    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let gmac = device
        .session(Transform::compute(Mac::AesGmac, &KEY))
        .unwrap();
    let mut tag = [0; 16];
    let mut ops = [Op::new(&gmac, Buffer::read_only(input))
        .iv(&[2; 12])
        .tag(&mut tag)];
    let _looked_at = device.queue_pair(1).process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success, "{:?}", ops[0].error());
    assert_eq!(tag, expected);
}
