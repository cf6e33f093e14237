//! Every algorithm of this libcrypto, forwards and back, whole and in segments.

#![allow(clippy::unwrap_used)] // a test

use std::io::{IoSlice, IoSliceMut};

use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Device, Op, Session, Status, Transform};
use lanelock_openssl::OpenSsl;

fn device() -> Device {
    Device::builder().engine(OpenSsl::new().unwrap()).build()
}

fn offered(device: &Device) -> Vec<Spec> {
    let capabilities = device.engines().next().unwrap().capabilities();
    let specs: Vec<_> = Spec::singles()
        .into_iter()
        .chain(Spec::chains())
        .filter(|spec| offers(capabilities, spec.algorithm))
        .collect();
    assert!(specs.len() > 500, "{} algorithms", specs.len());
    specs
}

fn session(device: &Device, spec: Spec, direction: Direction) -> Session {
    let bytes = |len: usize, seed: usize| -> Vec<u8> {
        (0..len)
            .map(|i| u8::try_from((i * 7 + seed * 31 + 1) % 251).unwrap())
            .collect()
    };
    let (key, mac_key) = (bytes(spec.key_len, 1), bytes(spec.mac_key_len, 2));
    let transform = Transform::new(spec.algorithm, direction, &key, &mac_key);
    device
        .session(transform)
        .unwrap_or_else(|error| panic!("{spec}: {error}"))
}

const MESSAGE: [u8; 96] = [0x5a; 96];

/// One message through `session` in segments of `step` bytes; returns its payload and tag.
fn run(
    session: &Session,
    step: usize,
    input: &[u8],
    tag: &[u8],
    status: Status,
) -> (Vec<u8>, Vec<u8>) {
    let mut qp = DEVICE.with(|device| device.queue_pair(1));
    let iv = [9; MAX_IV_LEN];
    let mut data = input.to_vec();
    let mut tag = if tag.is_empty() {
        vec![0; session.tag_len()]
    } else {
        tag.to_vec()
    };
    let mut segments: Vec<_> = data.chunks_mut(step).map(IoSliceMut::new).collect();
    let mut op = Op::new(session, Buffer::in_place(&mut segments[..]));
    if session.iv_len() > 0 {
        op = op.iv(&iv[..session.iv_len()]);
    }
    if session.tag_len() > 0 {
        op = op.tag(&mut tag);
    }
    if matches!(session.algorithm(), Algorithm::Aead(_)) {
        op = op.aad(b"additional");
    }
    let mut ops = [op];
    let _checked_below = qp.process(&mut ops);
    assert_eq!(ops[0].status(), status, "{session:?}: {:?}", ops[0].error());
    (data, tag)
}

thread_local! {
    static DEVICE: Device = device();
}

#[test]
fn every_algorithm_comes_back_whole_and_in_segments() {
    DEVICE.with(|device| {
        for spec in offered(device) {
            let forward = session(device, spec, Direction::Forward);
            let (sealed, tag) = run(&forward, 96, &MESSAGE, &[], Status::Success);
            for step in [1, 5, 16, 33] {
                assert_eq!(
                    run(&forward, step, &MESSAGE, &[], Status::Success),
                    (sealed.clone(), tag.clone()),
                    "{spec} in segments of {step}"
                );
            }
            if matches!(spec.algorithm, Algorithm::Hash(_)) {
                continue;
            }
            let reverse = session(device, spec, Direction::Reverse);
            for step in [96, 1, 7, 16] {
                let (opened, _) = run(&reverse, step, &sealed, &tag, Status::Success);
                assert_eq!(opened, MESSAGE, "{spec} in segments of {step}");
                if tag.is_empty() {
                    continue;
                }
                let mut wrong = tag.clone();
                wrong[0] ^= 1;
                let (kept, _) = run(&reverse, step, &sealed, &wrong, Status::AuthFailed);
                assert!(
                    kept == sealed || kept.iter().all(|&b| b == 0),
                    "{spec}: plaintext kept"
                );
            }
        }
    });
}

#[test]
fn a_separate_output_gets_what_in_place_gets() {
    DEVICE.with(|device| {
        let mut qp = device.queue_pair(1);
        for spec in offered(device) {
            let forward = session(device, spec, Direction::Forward);
            let (sealed, tag) = run(&forward, 96, &MESSAGE, &[], Status::Success);
            let input: Vec<_> = MESSAGE.chunks(13).map(IoSlice::new).collect();
            let (mut output, mut own_tag) = (vec![0xee; 100], vec![0; tag.len()]);
            let mut segments: Vec<_> = output.chunks_mut(11).map(IoSliceMut::new).collect();
            let buffer = Buffer::separate(&input[..], &mut segments[..]);
            let iv = [9; MAX_IV_LEN];
            let mut op = Op::new(&forward, buffer).output_at(3);
            if forward.iv_len() > 0 {
                op = op.iv(&iv[..forward.iv_len()]);
            }
            if !tag.is_empty() {
                op = op.tag(&mut own_tag);
            }
            if matches!(spec.algorithm, Algorithm::Aead(_)) {
                op = op.aad(b"additional");
            }
            let mut ops = [op];
            assert_eq!(
                qp.process(&mut ops).succeeded,
                1,
                "{spec}: {:?}",
                ops[0].error()
            );
            assert_eq!(own_tag, tag, "{spec}");
            if spec.algorithm.row().encrypts {
                assert_eq!(output[3..99], sealed, "{spec}");
            }
            assert_eq!((output[2], output[99]), (0xee, 0xee), "{spec}");
        }
    });
}
