//! Every refusal: its reason, its sentence, and that it touches nothing.

use std::collections::BTreeSet;
use std::io::IoSlice;

use lanelock_core::transform::Direction::{Forward, Reverse};
use lanelock_core::{
    Aead, Buffer, Cipher, Hash, InvalidReason, Mac, Op, Session, Status, Transform,
};

use crate::support::{IV, KEY, chain, ctr, encrypted, gcm, hmac, session, toy};

/// What an operation may borrow.
struct Parts<'a> {
    data: &'a mut [u8],
    output: &'a mut [u8],
    tag: &'a mut [u8],
    iv: &'a [u8],
}

type Make = for<'a> fn(&'a Session, Parts<'a>) -> Op<'a>;

/// Runs a bad operation on 64 bytes between two good ones; nothing may change but the good.
fn refusal(transform: &Transform, make: Make) -> (InvalidReason, String) {
    let device = toy();
    let (bad, good) = (session(&device, transform.clone()), session(&device, ctr()));
    let (mut data, mut output, mut tag) = ([1; 64], [2; 64], [3; 64]);
    let (mut before, mut after) = ([4; 30], [5; 30]);
    let iv = [6; 64];
    let error = {
        let parts = Parts {
            data: &mut data,
            output: &mut output,
            tag: &mut tag,
            iv: &iv,
        };
        let mut ops = [
            Op::new(&good, Buffer::in_place(&mut before)).iv(&IV),
            make(&bad, parts),
            Op::new(&good, Buffer::in_place(&mut after)).iv(&IV),
        ];
        let outcome = device.queue_pair(1).process(&mut ops);
        assert_eq!((outcome.succeeded, outcome.failed), (2, 1));
        assert_eq!(ops[1].status(), Status::InvalidArgs);
        ops[1].error().unwrap()
    };
    assert_eq!((data, output, tag), ([1; 64], [2; 64], [3; 64]), "{error}");
    assert_eq!(before[..], encrypted(&[4; 30]), "{error}");
    assert_eq!(after[..], encrypted(&[5; 30]), "{error}");
    (error.reason(), error.to_string())
}

/// In place on all 64 bytes, with IV and tag as the session wants them.
fn good<'a>(session: &'a Session, parts: Parts<'a>) -> Op<'a> {
    let op = Op::new(session, Buffer::in_place(parts.data));
    let op = match session.iv_len() {
        0 => op,
        len => op.iv(&parts.iv[..len]),
    };
    match session.tag_len() {
        0 => op,
        len => op.tag(&mut parts.tag[..len]),
    }
}

/// As [`good`] with a separate output.
fn good_separate<'a>(session: &'a Session, parts: Parts<'a>) -> Op<'a> {
    Op::new(session, Buffer::separate(&*parts.data, parts.output))
        .iv(&parts.iv[..session.iv_len()])
        .tag(&mut parts.tag[..session.tag_len()])
}

fn xts() -> Transform {
    let key: [u8; 32] = std::array::from_fn(|i| u8::from(i < 16)); // halves that differ
    Transform::encrypt(Cipher::AesXts, &key)
}

fn ecb() -> Transform {
    Transform::encrypt(Cipher::AesEcb, &KEY)
}

fn cbc() -> Transform {
    Transform::encrypt(Cipher::AesCbc, &KEY)
}

fn mac_first() -> Transform {
    Transform::mac_then_encrypt(Cipher::AesCtr, &KEY, Mac::Hmac(Hash::Sha1), &KEY).tag_len(12)
}

#[test]
fn every_refusal_says_what_is_wrong() {
    use InvalidReason as Bad;
    #[rustfmt::skip]
    let table: &[(Bad, Transform, Make, &str)] = &[
        (Bad::CipherRange, gcm(Forward), |s, p| good(s, p).cipher_range(10..65),
            "cipher range 10..65 extends past the end of the 64-byte input"),
        (Bad::CipherRange, gcm(Forward), |s, p| good(s, p).cipher_range(65..65),
            "cipher range 65..65 extends past the end of the 64-byte input"),
        #[allow(clippy::reversed_empty_ranges)]
        (Bad::CipherRange, gcm(Forward), |s, p| good(s, p).cipher_range(10..8),
            "cipher range is reversed or extends past 4 GiB; the input has 64 bytes"),
        (Bad::CipherRange, ctr(), |s, p| good(s, p).cipher_range(usize::MAX..usize::MAX),
            "cipher range is reversed or extends past 4 GiB; the input has 64 bytes"),
        (Bad::CipherRange, ctr(), |s, p| good(s, p).cipher_range(1..usize::MAX),
            "cipher range 1..4294967296 extends past the end of the 64-byte input"),
        (Bad::AuthRange, chain(), |s, p| good(s, p).auth_range(60..70),
            "authenticated range 60..70 extends past the end of the 64-byte input"),
        (Bad::AuthRange, hmac(), |s, p| good(s, p).auth_range(1 << 32..(1 << 32) + 4),
            "authenticated range is reversed or extends past 4 GiB; the input has 64 bytes"),
        (Bad::OutputMissing, ctr(), |s, p| Op::new(s, Buffer::read_only(&*p.data)).iv(&p.iv[..16]),
            "output: missing; aes-128-ctr writes its payload, but the buffer is read-only; use an in-place or separate output"),
        (Bad::OutputTooShort, gcm(Forward), |s, p| good_separate(s, p).output_at(1),
            "output: 64 bytes given; the payload needs 64 bytes at offset 1"),
        (Bad::OutputTooShort, gcm(Forward), |s, p| good_separate(s, p).output_at(usize::MAX),
            "output: 64 bytes given; the payload needs 64 bytes at offset 4294967295"),
        (Bad::OutputOffset, gcm(Forward), |s, p| good(s, p).output_at(0),
            "output offset 0: allowed only with a separate output; in place, the payload keeps its offset"),
        (Bad::BlockMultiple, cbc(), |s, p| good(s, p).cipher_range(0..17),
            "cipher range of 17 bytes: aes-128-cbc takes multiples of 16; pad it first"),
        (Bad::PayloadTooShort, xts(), |s, p| good(s, p).cipher_range(0..15),
            "cipher range of 15 bytes: aes-128-xts takes at least 16"),
        (Bad::IvMissing, cbc(), |s, p| Op::new(s, Buffer::in_place(p.data)),
            "IV: missing; aes-128-cbc needs 16 bytes"),
        (Bad::IvUnexpected, ecb(), |s, p| Op::new(s, Buffer::in_place(p.data)).iv(&p.iv[..16]),
            "IV: 16 bytes given; aes-128-ecb takes none"),
        (Bad::IvLength, gcm(Forward), |s, p| {
            let iv = &p.iv[..16];
            good(s, p).iv(iv)
        }, "IV: 16 bytes given; the session was made for 12"),
        (Bad::IvRange, ctr(), |s, p| good(s, p).iv_at(49),
            "16-byte IV at offset 49 extends past the end of the 64-byte input"),
        (Bad::IvRange, ctr(), |s, p| good(s, p).iv_at(usize::MAX),
            "16-byte IV at offset 4294967294 extends past the end of the 64-byte input"),
        (Bad::AadUnexpected, cbc(), |s, p| {
            let aad = &p.iv[..3];
            good(s, p).aad(aad)
        }, "additional data: 3 bytes given; aes-128-cbc takes none"),
        (Bad::AadRange, gcm(Forward), |s, p| good(s, p).aad_range(60..65),
            "additional data range 60..65 extends past the end of the 64-byte input"),
        (Bad::TagMissing, hmac(), |s, p| Op::new(s, Buffer::in_place(p.data)),
            "tag: missing; hmac-sha1 needs 20 bytes"),
        (Bad::TagUnexpected, ctr(), |s, p| Op::new(s, Buffer::in_place(p.data)).iv(&p.iv[..16]).tag(&mut p.tag[..4]),
            "tag: given, but aes-128-ctr takes none"),
        (Bad::TagLength, gcm(Forward), |s, p| Op::new(s, Buffer::in_place(p.data)).iv(&p.iv[..12]).tag(&mut p.tag[..15]),
            "tag: 15 bytes given; the session was made for 16"),
        (Bad::TagRange, hmac(), |s, p| good(s, p).auth_range(0..10).tag_at(45),
            "20-byte tag at offset 45 extends past the end of the 64-byte output"),
        (Bad::TagRange, gcm(Reverse), |s, p| good(s, p).cipher_range(0..10).tag_at(49),
            "16-byte tag at offset 49 extends past the end of the 64-byte input"),
        (Bad::TagReadOnly, hmac(), |s, p| Op::new(s, Buffer::in_place(p.data)).expected_tag(&p.tag[..20]),
            "tag: read-only, but the session computes it; pass a mutable slice to `tag`"),
        (Bad::TagReadOnly, hmac(), |s, p| {
            let read_only = &p.iv[..20];
            good(s, p).expected_tag(read_only)
        }, "tag: read-only, but the session computes it; pass a mutable slice to `tag`"),
        (Bad::TagReadOnly, hmac(), |s, p| Op::new(s, Buffer::read_only(&*p.data)).auth_range(0..10).tag_at(20),
            "tag: read-only, but the session computes it; pass a mutable slice to `tag`"),
        (Bad::TagOverlap, gcm(Forward), |s, p| good(s, p).cipher_range(0..33).tag_at(32),
            "tag at offset 32 overlaps bytes that aes-128-gcm authenticates or writes"),
        (Bad::TagOverlap, gcm(Forward), |s, p| good(s, p).cipher_range(16..32).aad_range(0..10).tag_at(0),
            "tag at offset 0 overlaps bytes that aes-128-gcm authenticates or writes"),
        (Bad::TagOverlap, hmac(), |s, p| good(s, p).tag_at(0),
            "tag at offset 0 overlaps bytes that hmac-sha1 authenticates or writes"),
        (Bad::TagOverlap, mac_first(), |s, p| good(s, p).cipher_range(0..40).auth_range(0..20).tag_at(19),
            "tag at offset 19 overlaps bytes that hmac-sha1+aes-128-ctr authenticates or writes"),
        (Bad::TagOverlap, mac_first(), |s, p| good_separate(s, p).cipher_range(8..40).auth_range(0..20).tag_at(11),
            "tag at offset 11 overlaps bytes that hmac-sha1+aes-128-ctr authenticates or writes"),
        (Bad::HeaderOverlap, gcm(Forward), |s, p| good(s, p).cipher_range(10..64).iv_at(0),
            "inline IV or additional data overlaps the cipher range 10..64, which is rewritten in place; use a separate output"),
        (Bad::HeaderOverlap, gcm(Reverse), |s, p| good(s, p).cipher_range(10..64).aad_range(0..11),
            "inline IV or additional data overlaps the cipher range 10..64, which is rewritten in place; use a separate output"),
    ];
    let mut seen = BTreeSet::new();
    for (reason, transform, make, sentence) in table {
        assert_eq!(refusal(transform, *make), (*reason, (*sentence).to_owned()));
        seen.insert(*reason as u8);
    }
    // The others have a test of their own: they need more than 64 bytes, another device, or
    // pointers.
    let elsewhere = [
        Bad::TooLarge,
        Bad::ForeignSession,
        Bad::PayloadTooLong,
        Bad::AadTooLong,
        Bad::BufferOverlap,
    ];
    seen.extend(elsewhere.map(|reason| reason as u8));
    assert!(
        seen.iter().copied().eq(1..=Bad::BufferOverlap as u8),
        "{seen:?}"
    );
}

#[test]
fn a_reversed_range_of_additional_data_is_not_taken_for_none() {
    #[allow(clippy::reversed_empty_ranges)]
    let ranges: [Make; 2] = [
        |s, p| good(s, p).aad_range(8..4),
        |s, p| good(s, p).aad_range(usize::MAX - 4..usize::MAX),
    ];
    for make in ranges {
        let (reason, sentence) = refusal(&gcm(Forward), make);
        assert_eq!(reason, InvalidReason::AadRange);
        assert_eq!(
            sentence,
            "additional data range is reversed or extends past 4 GiB; the input has 64 bytes"
        );
    }
}

#[test]
fn a_session_of_another_device_is_refused() {
    let (mine, other) = (toy(), toy());
    let foreign = session(&other, ctr());
    let mut data = [1; 16];
    let mut ops = [Op::new(&foreign, Buffer::in_place(&mut data)).iv(&IV)];
    let _one_failed = mine.queue_pair(1).process(&mut ops);
    let error = ops[0].error().unwrap();
    assert_eq!(error.reason(), InvalidReason::ForeignSession);
    assert_eq!(
        error.to_string(),
        "session: made by a different device than the queue pair; use one device for both"
    );
    assert_eq!(data, [1; 16]);
}

#[test]
fn a_buffer_of_four_gib_is_refused_by_length_alone() {
    let mib = vec![1; 1 << 20];
    let list = vec![IoSlice::new(&mib); 4096];
    let (device, mut tag) = (toy(), [0; 20]);
    let session = session(&device, hmac());
    let mut ops = [Op::new(&session, Buffer::read_only(&list[..])).tag(&mut tag)];
    let _one_failed = device.queue_pair(1).process(&mut ops);
    let error = ops[0].error().unwrap();
    assert_eq!(error.reason(), InvalidReason::TooLarge);
    assert_eq!(
        error.to_string(),
        "buffer: longer than 4 GiB - 2 bytes; split it into several operations"
    );
}

#[test]
fn a_payload_beyond_the_counter_of_ccm_is_refused() {
    let device = toy();
    let session = session(&device, Transform::seal(Aead::AesCcm, &KEY).iv_len(13));
    for (len, expected) in [(65_535, Status::Success), (65_536, Status::InvalidArgs)] {
        let (mut data, mut tag) = (vec![1; len], [0; 16]);
        let mut ops = [Op::new(&session, Buffer::in_place(&mut data))
            .iv(&[0; 13])
            .tag(&mut tag)];
        let _the_status_says_it = device.queue_pair(1).process(&mut ops);
        assert_eq!(ops[0].status(), expected);
        if let Some(error) = ops[0].error() {
            assert_eq!(error.reason(), InvalidReason::PayloadTooLong);
            assert_eq!(
                error.to_string(),
                "cipher range of 65536 bytes: aes-128-ccm with this IV length takes at most 65535"
            );
        }
    }
}

/// By length alone: with one byte less, what is missing is the output.
#[test]
fn a_payload_beyond_the_longest_call_of_ccm_is_refused() {
    let device = toy();
    let session = session(&device, Transform::seal(Aead::AesCcm, &KEY).iv_len(7));
    let mib = vec![1; 1 << 20];
    let mut list = vec![IoSlice::new(&mib); 2048];
    for (last, expected) in [
        (mib.len(), InvalidReason::PayloadTooLong),
        (mib.len() - 1, InvalidReason::OutputMissing),
    ] {
        list[2047] = IoSlice::new(&mib[..last]);
        let mut tag = [0; 16];
        let mut ops = [Op::new(&session, Buffer::read_only(&list[..]))
            .iv(&[0; 7])
            .tag(&mut tag)];
        let _the_status_says_it = device.queue_pair(1).process(&mut ops);
        let error = ops[0].error().unwrap();
        assert_eq!(error.reason(), expected);
        if expected == InvalidReason::PayloadTooLong {
            assert_eq!(
                error.to_string(),
                "cipher range of 2147483648 bytes: aes-128-ccm with this IV length takes at most \
                 2147483647"
            );
        }
    }
}

#[test]
fn additional_data_ends_at_a_mebibyte() {
    let device = toy();
    let session = session(&device, gcm(Forward));
    let aad = vec![1; (1 << 20) + 1];
    for (len, expected) in [(1 << 20, Status::Success), (aad.len(), Status::InvalidArgs)] {
        let (mut data, mut tag) = ([1; 16], [0; 16]);
        let mut ops = [Op::new(&session, Buffer::in_place(&mut data))
            .iv(&IV[..12])
            .aad(&aad[..len])
            .tag(&mut tag)];
        let _the_status_says_it = device.queue_pair(1).process(&mut ops);
        assert_eq!(ops[0].status(), expected);
        if let Some(error) = ops[0].error() {
            assert_eq!(error.reason(), InvalidReason::AadTooLong);
            assert_eq!(
                error.to_string(),
                "additional data: 1048577 bytes given; aes-128-gcm takes at most 1048576"
            );
        }
    }
}

#[test]
fn ranges_default_to_the_whole_input_and_the_start_of_the_output() {
    let device = toy();
    let session = session(&device, ctr());
    let (input, mut output) = ([8; 40], [0; 50]);
    let mut ops = [Op::new(&session, Buffer::separate(&input, &mut output)).iv(&IV)];
    let _succeeds = device.queue_pair(1).process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success);
    assert_eq!(output[..40], encrypted(&input));
    assert_eq!(output[40..], [0; 10]);
}

#[test]
fn empty_additional_data_is_none_where_none_is_taken() {
    let device = toy();
    let session = session(&device, ctr());
    let mut data = [8; 40];
    let mut ops = [Op::new(&session, Buffer::in_place(&mut data))
        .iv(&IV)
        .aad(&[])];
    assert_eq!(device.queue_pair(1).process(&mut ops).succeeded, 1);
}
