use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake};
use std::time::Duration;

use super::*;
use crate::Device;
use crate::public_key::{KeyDevice, KeyKind, KeyTransform, Operation, SecretKey, SignatureScheme};
use lanelock_testkit::KeyLanes;

mod panics;
mod wakers;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A deadline that no test reaches by itself.
fn patient() -> FlushPolicy {
    FlushPolicy::with_deadline(Duration::from_secs(3600))
}

/// Four lanes whose shared secret is the peer's key with every bit flipped.
const LANES: KeyLanes = KeyLanes {
    name: "lanes",
    lanes: 4,
    operation: Operation::Derive,
    run: |mut op| {
        let peer = op.input();
        for (byte, flipped) in op.output().iter_mut().zip(peer) {
            *byte = !flipped;
        }
        op.succeed(peer.len());
    },
};

/// Four lanes before OpenSSL.
fn device() -> Device {
    let openssl = lanelock_openssl::OpenSsl::new().expect("OpenSSL 3");
    Device::builder()
        .engine(LANES.engine())
        .engine(openssl)
        .build()
}

/// A session whose operations share batches.
fn derive_session(device: &Device) -> KeySession {
    let key = SecretKey::raw(KeyKind::X25519, &[7; 32]).expect("a key");
    let session = device.key_session_on("lanes", &KeyTransform::derive(&key));
    session.expect("offered")
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>, woken: &Arc<Woken>) -> Poll<F::Output> {
    let waker = Waker::from(woken.clone());
    future.poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_refusal_is_told_and_needs_no_driver() {
    let device = device();
    let service = KeyService::new(&device, 8, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let woken = Arc::new(Woken::default());
    let mut future = pin!(exchange.derive(&[9; 31]));
    let Poll::Ready(Err(failure)) = poll(future.as_mut(), &woken) else {
        panic!("refused at once")
    };
    let message = failure.to_string();
    assert_eq!(
        message,
        "peer's public key: 31 bytes given; x25519-derive takes 32 bytes"
    );
}

#[test]
fn the_last_submitter_completes_everybody() {
    let device = device();
    let session = derive_session(&device);
    let service = KeyService::new(&device, 8, patient());
    let tasks = [service.submitter(), service.submitter()];
    let exchange = KeyExchange::new(&service, &session);
    let woken = Arc::new(Woken::default());
    let (mut first, mut second) = (
        pin!(exchange.derive(&[9; 32])),
        pin!(exchange.derive(&[9; 32])),
    );
    assert!(
        poll(first.as_mut(), &woken).is_pending(),
        "another may add to it"
    );
    let Poll::Ready(Ok(two)) = poll(second.as_mut(), &woken) else {
        panic!("the last one runs the batch")
    };
    assert_eq!(woken.0.load(Ordering::Relaxed), 2, "the first, and itself");
    let Poll::Ready(one) = poll(first.as_mut(), &woken) else {
        panic!("its job has run")
    };
    assert_eq!(one.expect("a secret"), two);
    drop(tasks);
}

#[test]
fn a_dropped_future_leaves_nothing_behind() {
    let device = device();
    let session = derive_session(&device);
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &session);
    let woken = Arc::new(Woken::default());
    {
        let mut future = Box::pin(exchange.derive(&[9; 32]));
        assert!(poll(future.as_mut(), &woken).is_pending());
        assert_eq!(service.waiting(), 1);
    }
    let inner = service.lock();
    assert_eq!((inner.queue.in_flight(), inner.slots.len()), (0, 0));
    drop(inner);
    // Its room is free again, and the deadline runs the next.
    let mut future = pin!(exchange.derive(&[9; 32]));
    assert!(poll(future.as_mut(), &woken).is_pending());
    assert_eq!(service.poll(Instant::now()), 0);
    assert_eq!(service.poll(Instant::now() + Duration::from_secs(3601)), 1);
    assert!(poll(future.as_mut(), &woken).is_ready());
}

#[test]
fn a_full_queue_makes_a_call_wait_and_wakes_it() {
    let device = device();
    let session = derive_session(&device);
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &session);
    let woken = Arc::new(Woken::default());
    let mut first = pin!(exchange.derive(&[9; 32]));
    assert!(poll(first.as_mut(), &woken).is_pending());
    let blocked = Arc::new(Woken::default());
    let mut second = pin!(exchange.derive(&[9; 32]));
    assert!(poll(second.as_mut(), &blocked).is_pending());
    assert_eq!(service.waiting(), 1);
    service.poll(Instant::now() + Duration::from_secs(3601));
    assert_eq!(blocked.0.load(Ordering::Relaxed), 1, "there is room");
    assert!(poll(first.as_mut(), &woken).is_ready());
    assert!(poll(second.as_mut(), &blocked).is_pending());
    assert_eq!(service.waiting(), 1);
}

#[test]
fn a_driver_keeps_the_deadline_and_sleeps_while_nothing_waits() {
    let device = device();
    let session = derive_session(&device);
    let service = KeyService::new(&device, 8, FlushPolicy::with_deadline(Duration::ZERO));
    let woken = Arc::new(Woken::default());
    let slept = AtomicUsize::new(0);
    let mut driver = pin!(service.drive(|_| {
        slept.fetch_add(1, Ordering::Relaxed);
        std::future::ready(())
    }));
    assert!(poll(driver.as_mut(), &woken).is_pending());
    assert_eq!(slept.load(Ordering::Relaxed), 0);
    service.lock().queue.set_policy(patient());
    let exchange = KeyExchange::new(&service, &session);
    let task = Arc::new(Woken::default());
    let mut future = pin!(exchange.derive(&[9; 32]));
    assert!(poll(future.as_mut(), &task).is_pending());
    assert_eq!(
        woken.0.load(Ordering::Relaxed),
        1,
        "there is a deadline to keep"
    );
    service
        .lock()
        .queue
        .set_policy(FlushPolicy::with_deadline(Duration::ZERO));
    assert!(poll(driver.as_mut(), &woken).is_pending());
    assert_eq!(slept.load(Ordering::Relaxed), 1);
    assert_eq!(task.0.load(Ordering::Relaxed), 1, "its job has run");
    assert!(poll(future.as_mut(), &task).is_ready());
}

#[test]
fn a_driver_sleeps_while_the_deadline_never_comes() {
    let device = device();
    let never = FlushPolicy::with_deadline(Duration::MAX);
    let service = KeyService::new(&device, 8, never);
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let (driving, task) = <(Arc<Woken>, Arc<Woken>)>::default();
    let mut driver = pin!(service.drive(|due| async move { panic!("woken at {due:?}") }));
    let mut future = pin!(exchange.derive(&[9; 32]));
    assert!(poll(future.as_mut(), &task).is_pending());
    assert!(poll(driver.as_mut(), &driving).is_pending());
    let _only = service.submitter();
    service.poll(Instant::now());
    assert!(poll(future.as_mut(), &task).is_ready());
}

#[test]
fn signatures_verify() {
    let device = device();
    let key = SecretKey::raw(KeyKind::Ed25519, &[3; 32]).expect("a key");
    let public = device.public_key(&key).expect("computed");
    let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key));
    let service = KeyService::new(&device, 8, FlushPolicy::immediate());
    let signer = Signer::new(&service, &session.expect("offered"));
    let woken = Arc::new(Woken::default());
    let Poll::Ready(Ok(signature)) = poll(pin!(signer.sign(b"message")), &woken) else {
        panic!("nothing waits under this policy")
    };
    let verify = KeyTransform::verify(SignatureScheme::EdDsa, &public);
    let session = device.key_session(&verify).expect("offered");
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut ops = [crate::public_key::KeyOp::verify(
        &session, b"message", &signature,
    )];
    assert_eq!(queue.process(&mut ops).succeeded, 1);
}
