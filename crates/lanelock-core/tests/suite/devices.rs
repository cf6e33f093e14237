//! Which engine a session runs on, and why; contexts and what frees them.

use lanelock_core::session::Choice;
use lanelock_core::{Aead, Algorithm, Buffer, Cipher, Device, Op, SessionError, Status, Transform};
use lanelock_testkit::ToyEngine;

use crate::support::{IV, KEY, ctr, encrypted, gcm, session, toy};

/// `fast` offers CTR alone, `slow` everything.
fn two_engines() -> Device {
    Device::builder()
        .engine(ToyEngine::new("fast").only(&[Algorithm::Cipher(Cipher::AesCtr)]))
        .boxed_engine(Box::new(ToyEngine::new("slow")))
        .build()
}

fn cbc() -> Transform {
    Transform::encrypt(Cipher::AesCbc, &KEY)
}

#[test]
fn the_first_engine_that_offers_the_transform_is_taken() {
    let device = two_engines();
    let first = session(&device, ctr());
    assert_eq!(first.engine(), "fast");
    assert_eq!(first.choice().to_string(), "first in the device's order");
    let second = session(&device, cbc());
    assert_eq!(second.engine(), "slow");
    assert_eq!(
        second.choice().to_string(),
        "first in the device's order that offers it (fast: aes-128-cbc: not available: not on the \
         toy's list)"
    );
    let Choice::FirstThatOffers { refused } = second.choice() else {
        panic!("{:?}", second.choice())
    };
    assert_eq!(refused.len(), 1);
    let names: Vec<_> = device.engines().map(|engine| engine.name()).collect();
    assert_eq!(names, ["fast", "slow"]);
}

#[test]
fn a_named_engine_is_taken_or_refuses() {
    let device = two_engines();
    let named = device.session_on("slow", ctr()).unwrap();
    assert_eq!((named.engine(), named.choice()), ("slow", &Choice::Named));
    assert_eq!(named.choice().to_string(), "named by the caller");
    assert_eq!(
        device.session_on("fast", cbc()).unwrap_err().to_string(),
        "aes-128-cbc: not available: not on the toy's list"
    );
}

#[test]
fn an_unknown_engine_is_told_with_those_that_are() {
    let error = two_engines().session_on("fats", ctr()).unwrap_err();
    assert!(matches!(&error, SessionError::NoSuchEngine { name, .. } if name == "fats"));
    assert_eq!(
        error.to_string(),
        "no engine 'fats'; this device has: fast, slow"
    );
}

#[test]
fn if_no_engine_offers_it_each_says_why() {
    let ciphers = [Algorithm::Cipher(Cipher::AesCtr)];
    let device = Device::builder()
        .engine(ToyEngine::new("a").only(&ciphers))
        .engine(ToyEngine::new("b").only(&[]))
        .build();
    assert_eq!(
        device.session(cbc()).unwrap_err().to_string(),
        "aes-128-cbc: not available: a: not on the toy's list; b: not on the toy's list"
    );
    assert_eq!(
        Device::builder()
            .build()
            .session(cbc())
            .unwrap_err()
            .to_string(),
        "aes-128-cbc: not available: the device has no engine"
    );
}

#[test]
fn a_bad_description_is_refused_before_any_engine_is_asked() {
    let transform = Transform::seal(Aead::AesGcm, &KEY).tag_len(3);
    let error = Device::builder().build().session(transform).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aes-128-gcm: tag of 3 bytes; allowed: 4 to 16"
    );
}

#[test]
fn sessions_and_queue_pairs_outlive_their_device() {
    let device = toy();
    let (session, mut queue) = (session(&device, ctr()), device.queue_pair(1));
    drop(device);
    let mut data = [1; 9];
    let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&IV)];
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    assert_eq!(data[..], encrypted(&[1; 9]));
}

#[test]
fn a_clone_is_the_same_device_and_session() {
    let device = toy();
    let (session, mut queue) = (session(&device, ctr()), device.clone().queue_pair(1));
    let copy = session.clone();
    drop(session);
    let mut data = [1; 9];
    let mut ops = [Op::new(&copy, Buffer::in_place(&mut data)).iv(&IV)];
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    assert_eq!(ops[0].status(), Status::Success);
}

#[test]
fn a_context_is_made_on_first_use_and_goes_with_session_or_queue_pair() {
    let engine = ToyEngine::new("toy");
    let watch = engine.watch();
    let device = Device::builder().engine(engine).build();
    let (first, second) = (session(&device, ctr()), session(&device, ctr()));
    let (mut here, mut there) = (device.queue_pair(1), device.queue_pair(1));
    assert_eq!(watch.contexts(), 0);
    for queue in [&mut here, &mut there] {
        for session in [&first, &second, &first] {
            let mut data = [1; 9];
            let mut ops = [Op::new(session, Buffer::in_place(&mut data)).iv(&IV)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        }
    }
    assert_eq!(watch.contexts(), 4);
    let copy = first.clone();
    drop(first);
    assert_eq!(watch.contexts(), 4, "a clone keeps the session");
    drop(copy);
    assert_eq!(watch.contexts(), 2);
    drop(here);
    assert_eq!(watch.contexts(), 1);
    drop(second);
    assert_eq!(watch.contexts(), 0);
    drop(there);
}

#[test]
fn a_queue_pair_with_the_number_of_a_dropped_one_starts_anew() {
    let engine = ToyEngine::new("toy");
    let watch = engine.watch();
    let device = Device::builder().engine(engine).build();
    let session = session(&device, ctr());
    for _ in 0..3 {
        let mut queue = device.queue_pair(1);
        let mut data = [1; 9];
        let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&IV)];
        assert_eq!(queue.process(&mut ops).succeeded, 1);
        assert_eq!(watch.contexts(), 1);
        drop(queue);
        assert_eq!(watch.contexts(), 0);
    }
}

#[test]
fn a_session_tells_its_facts_and_hides_its_key() {
    let device = toy();
    let session = session(
        &device,
        gcm(lanelock_core::transform::Direction::Forward).tag_len(8),
    );
    assert_eq!((session.iv_len(), session.tag_len()), (12, 8));
    assert!(session.memory().session > KEY.len());
    assert!(session.memory().per_queue_pair > 0);
    assert_eq!(
        format!("{session:?}"),
        "Session { algorithm: \"aes-128-gcm\", direction: Forward, engine: \"toy\", .. }"
    );
}
