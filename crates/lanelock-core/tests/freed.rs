//! What sessions and contexts leave in their memory is gone when it is freed, padding included:
//! here an engine's session and its context have a part that no destructor wipes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::convert::Infallible;

use lanelock_core::engine::{
    Batch, Capability, Engine, EngineSession, PerQueue, QueueToken, Wiped,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::{Buffer, Cipher, Device, Op, SessionError, Status, Transform};
use lanelock_testkit::freed::{Finding, Reader, Secrets, freed};

#[global_allocator]
static ALLOCATOR: Reader = Reader;

const SECRET: [u8; 16] = *b"\xf0of sixteen byte";

/// Stands for a session with stale bytes in its padding.
#[derive(Default)]
struct Stale {
    contexts: PerQueue<[u8; 40]>,
    padding: Option<[u8; 40]>,
}

/// The secret twice, and a bit.
fn stale() -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[3..19].copy_from_slice(&SECRET);
    bytes[24..].copy_from_slice(&SECRET);
    bytes
}

impl Stale {
    fn boxed() -> Box<Self> {
        Box::new(Self {
            padding: Some(stale()),
            ..Self::default()
        })
    }

    fn use_context(&self, queue: &mut QueueToken) {
        let context = self.contexts.get_or_try_make(queue, || Ok(stale()));
        let context: Result<_, Infallible> = context;
        assert!(*context.unwrap() == self.padding.unwrap());
    }
}

struct Leaky;

impl Engine for Leaky {
    fn name(&self) -> &'static str {
        "leaky"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Stale::boxed())
    }
}

impl EngineSession for Stale {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        self.use_context(queue);
        batch.complete(Status::Success);
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

fn device() -> Device {
    Device::builder().engine(Leaky).build()
}

/// What `run` leaves of the secret.
fn left(run: impl FnOnce()) -> Vec<Finding> {
    let mut secrets = Secrets::default();
    secrets.add("the secret", &SECRET);
    freed(secrets, run).1
}

#[test]
fn a_plain_box_would_leave_it() {
    let found = left(|| drop(Stale::boxed()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].size, size_of::<Stale>());
    assert_eq!(left(|| drop(Wiped::boxed(Stale::boxed()))), []);
    assert_eq!(left(|| drop(Box::new(Wiped::new(stale())))), []);
}

#[test]
fn sessions_leave_nothing() {
    let device = device();
    let found = left(|| {
        let transform = || Transform::encrypt(Cipher::AesCtr, &[1; 16]);
        let session = device.session(transform()).unwrap();
        let mut queues = [(); 3].map(|()| device.queue_pair(1));
        for queue in &mut queues {
            let mut data = [0; 16];
            let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&[2; 16])];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        }
        // One context goes before its session, two go with it.
        let [first, _rest @ ..] = queues;
        drop(first);
        drop(session);
    });
    assert_eq!(found, []);
}

#[test]
fn memory_is_wiped_when_a_destructor_panics() {
    struct Panics([u8; 40]);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0[0] != 0, "asked to");
        }
    }
    let found = left(|| {
        let content = Box::new(Wiped::new(Panics(stale())));
        std::panic::catch_unwind(|| drop(content)).unwrap_err();
    });
    assert_eq!(found, []);
}
