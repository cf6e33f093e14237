//! Engines that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::public_key::KeyReason;

/// A peer's key at which the engine panics.
const PANICS: [u8; 32] = [0xbb; 32];

const FRAGILE: KeyLanes = KeyLanes {
    run: |op| {
        assert_ne!(op.input()[0], PANICS[0], "asked to panic");
        (LANES.run)(op);
    },
    ..LANES
};

/// Batches of their own.
const OTHERS: KeyLanes = KeyLanes {
    name: "others",
    ..FRAGILE
};

fn fragile_device() -> Device {
    let builder = Device::builder().engine(FRAGILE.engine());
    builder.engine(OTHERS.engine()).build()
}

fn other_session(device: &Device) -> KeySession {
    let key = SecretKey::raw(KeyKind::X25519, &[7; 32]).expect("a key");
    let session = device.key_session_on("others", &KeyTransform::derive(&key));
    session.expect("offered")
}

fn reason<T>(result: Poll<Result<T, KeyFailure>>) -> Option<KeyReason> {
    match result {
        Poll::Ready(Err(failure)) => Some(failure.error().expect("a reason").reason()),
        _ => None,
    }
}

#[test]
fn everybody_in_the_batch_is_woken_and_told() {
    let device = fragile_device();
    let service = KeyService::new(&device, 8, patient());
    let _tasks = [(); 3].map(|()| service.submitter());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let woken: [Arc<Woken>; 3] = Default::default();
    {
        let mut before = pin!(exchange.derive(&[9; 32]));
        let mut guilty = pin!(exchange.derive(&PANICS));
        let mut after = pin!(exchange.derive(&[9; 32]));
        assert!(poll(before.as_mut(), &woken[0]).is_pending());
        assert!(poll(guilty.as_mut(), &woken[1]).is_pending());
        // This one's poll runs the batch. What panics is the engine, not the task.
        let failed = poll(after.as_mut(), &woken[2]);
        assert_eq!(reason(failed), Some(KeyReason::Engine));
        for woken in &woken[..2] {
            assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        }
        let failed = poll(guilty.as_mut(), &woken[1]);
        assert_eq!(reason(failed), Some(KeyReason::Engine));
        let Poll::Ready(Ok(secret)) = poll(before.as_mut(), &woken[0]) else {
            panic!("it had its result")
        };
        assert_eq!(secret[..], [!9; 32]);
    }
    let inner = service.lock();
    assert_eq!((inner.queue.in_flight(), inner.slots.len()), (0, 0));
}

#[test]
fn what_else_is_due_runs() {
    let device = fragile_device();
    let service = KeyService::new(&device, 8, patient());
    let [fragile, others] =
        [derive_session(&device), other_session(&device)].map(|s| KeyExchange::new(&service, &s));
    let woken: [Arc<Woken>; 2] = Default::default();
    let mut guilty = pin!(fragile.derive(&PANICS));
    let mut other = pin!(others.derive(&[9; 32]));
    assert!(poll(guilty.as_mut(), &woken[0]).is_pending());
    assert!(poll(other.as_mut(), &woken[1]).is_pending());
    assert_eq!(service.poll(Instant::now() + Duration::from_secs(3601)), 2);
    assert!(matches!(
        poll(guilty.as_mut(), &woken[0]),
        Poll::Ready(Err(_))
    ));
    assert!(matches!(
        poll(other.as_mut(), &woken[1]),
        Poll::Ready(Ok(_))
    ));
}

#[test]
fn a_driver_goes_on() {
    let device = fragile_device();
    let service = KeyService::new(&device, 8, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let set_deadline = |policy| service.lock().queue.set_policy(policy);
    let (driving, task) = <(Arc<Woken>, Arc<Woken>)>::default();
    let mut driver = pin!(service.drive(|_| std::future::ready(())));
    assert!(poll(driver.as_mut(), &driving).is_pending());
    for (times, (peer, succeeds)) in (1..).zip([(PANICS, false), ([9; 32], true)]) {
        set_deadline(patient());
        let mut future = pin!(exchange.derive(&peer));
        assert!(poll(future.as_mut(), &task).is_pending());
        assert_eq!(driving.0.load(Ordering::Relaxed), times);
        set_deadline(FlushPolicy::with_deadline(Duration::ZERO));
        assert!(poll(driver.as_mut(), &driving).is_pending());
        assert_eq!(task.0.load(Ordering::Relaxed), times);
        let Poll::Ready(result) = poll(future.as_mut(), &task) else {
            panic!("the driver has run it")
        };
        assert_eq!(result.is_ok(), succeeds);
    }
}

#[test]
fn a_driver_is_woken_though_the_first_job_panics() {
    let device = fragile_device();
    let service = KeyService::new(&device, 8, FlushPolicy::immediate());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let (driving, task) = <(Arc<Woken>, Arc<Woken>)>::default();
    let mut driver = pin!(service.drive(|_| std::future::ready(())));
    assert!(poll(driver.as_mut(), &driving).is_pending());
    assert!(poll(pin!(exchange.derive(&PANICS)), &task).is_ready());
    assert_eq!(driving.0.load(Ordering::Relaxed), 1);
}

/// Without care that is a panic in a destructor during unwinding, which ends the process.
#[test]
fn a_submitter_dropped_by_a_panic_runs_an_engine_that_panics() {
    let device = fragile_device();
    let service = KeyService::new(&device, 8, patient());
    let _other = service.submitter();
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let woken = Arc::new(Woken::default());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _mine = service.submitter();
        let mut future = Box::pin(exchange.derive(&PANICS));
        assert!(poll(future.as_mut(), &woken).is_pending());
        // It outlives the submitter, whose end makes it due.
        let _future = std::mem::ManuallyDrop::new(future);
        panic!("the task's own");
    }));
    assert!(panicked.is_err());
    assert_eq!(service.waiting(), 0);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
}
