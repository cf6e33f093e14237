//! Which wakers are kept, and when they are let go.

use std::sync::TryLockError;
use std::sync::atomic::AtomicBool;

use super::*;

/// How many wakers the service keeps for `task`.
fn kept(task: &Arc<Woken>) -> usize {
    Arc::strong_count(task) - 1
}

#[test]
fn a_future_without_room_has_one_waker() {
    let device = device();
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let tasks: [Arc<Woken>; 3] = Default::default();
    let [first, old, new] = &tasks;
    let mut running = pin!(exchange.derive(&[9; 32]));
    assert!(poll(running.as_mut(), first).is_pending());
    let mut blocked = Box::pin(exchange.derive(&[9; 32]));
    for _ in 0..1000 {
        assert!(poll(blocked.as_mut(), old).is_pending());
    }
    assert_eq!(kept(old), 1);
    // It has moved to another task.
    assert!(poll(blocked.as_mut(), new).is_pending());
    assert_eq!((kept(old), kept(new)), (0, 1));
    assert_eq!(service.lock().no_room.len(), 1);
    drop(blocked);
    assert_eq!(kept(new), 0);
    assert_eq!(service.lock().no_room.len(), 0);
}

#[test]
fn room_wakes_all_that_wait_for_it_once() {
    let device = device();
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let tasks: [Arc<Woken>; 3] = Default::default();
    let mut futures: Vec<_> = (0..3)
        .map(|_| Box::pin(exchange.derive(&[9; 32])))
        .collect();
    for _ in 0..3 {
        for (future, task) in futures.iter_mut().zip(&tasks) {
            assert!(poll(future.as_mut(), task).is_pending());
        }
    }
    // The first is cancelled.
    drop(futures.remove(0));
    let woken = |task: &Arc<Woken>| (task.0.load(Ordering::Relaxed), kept(task));
    assert_eq!(tasks.each_ref().map(woken), [(0, 0), (1, 0), (1, 0)]);
    for (future, task) in futures.iter_mut().zip(&tasks[1..]) {
        assert!(poll(future.as_mut(), task).is_pending());
    }
    assert_eq!(tasks.each_ref().map(woken), [(0, 0), (1, 1), (1, 1)]);
    let inner = service.lock();
    assert_eq!((inner.slots.len(), inner.no_room.len()), (1, 1));
}

#[test]
fn a_future_that_waits_and_a_driver_have_one_waker_each() {
    let device = device();
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let (driving, task) = <(Arc<Woken>, Arc<Woken>)>::default();
    let mut driver = pin!(service.drive(|_| std::future::pending()));
    for _ in 0..10 {
        assert!(poll(driver.as_mut(), &driving).is_pending());
    }
    assert_eq!(kept(&driving), 1);
    let mut future = pin!(exchange.derive(&[9; 32]));
    for _ in 0..10 {
        assert!(poll(future.as_mut(), &task).is_pending());
    }
    assert_eq!((kept(&driving), kept(&task)), (0, 1));
}

/// A waker that may be the last thing to keep its task alive, and that task's futures: dropping
/// them takes the service's lock.
struct Last {
    service: KeyService,
    was_locked: Arc<AtomicBool>,
}

impl Wake for Last {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Last {
    fn drop(&mut self) {
        let lock = self.service.0.try_lock();
        let was_locked = matches!(lock, Err(TryLockError::WouldBlock));
        self.was_locked.store(was_locked, Ordering::Relaxed);
    }
}

#[test]
fn no_waker_is_dropped_under_the_lock() {
    let device = device();
    let service = KeyService::new(&device, 1, patient());
    let exchange = KeyExchange::new(&service, &derive_session(&device));
    let was_locked = Arc::new(AtomicBool::new(false));
    let mut driver = pin!(service.drive(|_| std::future::pending()));
    let mut running = pin!(exchange.derive(&[9; 32]));
    let mut blocked = pin!(exchange.derive(&[9; 32]));
    let task = Arc::new(Woken::default());
    let last = || {
        Waker::from(Arc::new(Last {
            service: service.clone(),
            was_locked: was_locked.clone(),
        }))
    };
    let mut polls: [&mut dyn FnMut(&Waker); 3] = [
        &mut |waker| {
            assert!(
                driver
                    .as_mut()
                    .poll(&mut Context::from_waker(waker))
                    .is_pending()
            )
        },
        &mut |waker| {
            assert!(
                running
                    .as_mut()
                    .poll(&mut Context::from_waker(waker))
                    .is_pending()
            )
        },
        &mut |waker| {
            assert!(
                blocked
                    .as_mut()
                    .poll(&mut Context::from_waker(waker))
                    .is_pending()
            )
        },
    ];
    for poll in &mut polls {
        poll(&last());
        poll(&Waker::from(task.clone()));
        assert!(!was_locked.load(Ordering::Relaxed));
    }
}
