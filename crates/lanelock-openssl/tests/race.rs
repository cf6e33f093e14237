//! The program that `make race` runs under a race detector: one session of every kind, used by
//! several queue pairs at once, and sessions of public keys, used by several queues.
//!
//! The detector sees into libcrypto but knows no synchronisation other than that of pthreads, so
//! the threads here share nothing of Rust's making that changes: the queue pairs are made before
//! and dropped behind them.

#![allow(clippy::unwrap_used)] // a test

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use lanelock_conformance::public_key::{KeyMessage, samples};
use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Buffer, Device, Hash, Op, QueuePair, Session, Transform};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyKind, KeyQueue, KeySession, KeySpec, Operation, Scheme,
    SignatureScheme,
};

const THREADS: usize = 3;
const MESSAGES: usize = 4;

fn main() {
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let capabilities = device.engines().next().unwrap().capabilities().to_vec();
    let chains = ["aes-128-cbc+hmac-sha1", "hmac-sha256+aes-256-ctr"].map(|c| c.parse().unwrap());
    let sessions: Vec<Session> = Spec::singles()
        .into_iter()
        .chain(chains)
        .filter(|spec| offers(&capabilities, spec.algorithm))
        .map(|spec| {
            let key: Vec<u8> = (1..=255).cycle().take(spec.key_len).collect();
            let mac_key: Vec<u8> = (2..).take(spec.mac_key_len).collect();
            let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key);
            device.session(transform).unwrap()
        })
        .collect();
    let keys = keys(&device);
    let work = || Work {
        qp: device.queue_pair(1),
        queue: device.key_queue(1, FlushPolicy::default()),
        sessions: &sessions,
        keys: &keys,
        results: Vec::new(),
    };
    // Its queue pairs go before the threads' are made: with the lowest numbers, those of any two
    // threads are in different chunks of a session's contexts, which are made at first use.
    let expected = {
        let mut alone = work();
        alone.run();
        alone.results
    };
    let mut jobs: Vec<_> = (0..THREADS).map(|_| work()).collect();
    let threads: Vec<libc::pthread_t> = jobs
        .iter_mut()
        .map(|work| {
            let mut thread = 0;
            // SAFETY: `work` stays where it is, untouched by this thread, until the join below.
            let failed = unsafe {
                libc::pthread_create(&raw mut thread, null(), start, (&raw mut *work).cast())
            };
            assert_eq!(failed, 0);
            thread
        })
        .collect();
    for thread in threads {
        // SAFETY: made above, joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
    }
    assert!(
        jobs.iter().all(|work| work.results == expected),
        "the threads disagree"
    );
    let cases = sessions.len() + keys.len();
    println!("test result: ok. {cases} passed; 0 failed");
}

/// Operations with one possible result, and their sessions.
fn keys(device: &Device) -> Vec<(KeyMessage, KeySession)> {
    let sign = |kind, scheme| KeySpec {
        operation: Operation::Sign,
        kind,
        scheme: Scheme::Signature(scheme),
    };
    let specs = [
        sign(KeyKind::Rsa(1024), SignatureScheme::RsaPkcs1(Hash::Sha256)),
        sign(KeyKind::Ed25519, SignatureScheme::EdDsa),
        KeySpec {
            operation: Operation::Derive,
            kind: KeyKind::Ec(Curve::P256),
            scheme: Scheme::Plain,
        },
    ];
    let samples = specs.map(|spec| samples(device, "openssl", spec, 2).unwrap());
    samples
        .into_iter()
        .flatten()
        .map(|sample| {
            let session = device.key_session(sample.transform()).unwrap();
            (sample, session)
        })
        .collect()
}

/// What one thread does.
struct Work<'s> {
    qp: QueuePair,
    queue: KeyQueue,
    sessions: &'s [Session],
    keys: &'s [(KeyMessage, KeySession)],
    results: Vec<Vec<u8>>,
}

/// The standard library's threads wait for each other in ways that a detector does not know.
extern "C" fn start(work: *mut c_void) -> *mut c_void {
    // SAFETY: `main` passes a `Work` of this thread's own.
    let work = unsafe { &mut *work.cast::<Work<'_>>() };
    work.run();
    null_mut()
}

impl Work<'_> {
    fn run(&mut self) {
        for _ in 0..MESSAGES {
            self.messages();
            self.public_keys();
        }
    }

    /// Every session's message: payload, then tag.
    fn messages(&mut self) {
        for session in self.sessions {
            let (mut data, mut tag, iv) =
                (vec![5; 80], vec![0; session.tag_len()], [7; MAX_IV_LEN]);
            let mut op = Op::new(session, Buffer::in_place(&mut data));
            if session.iv_len() > 0 {
                op = op.iv(&iv[..session.iv_len()]);
            }
            if session.tag_len() > 0 {
                op = op.tag(&mut tag);
            }
            assert_eq!(self.qp.process(&mut [op]).succeeded, 1);
            data.extend(tag);
            self.results.push(data);
        }
    }

    /// Every key's result.
    fn public_keys(&mut self) {
        for (sample, session) in self.keys {
            let (mut output, mut second) = sample.room(session);
            let mut ops = [sample.op(session, &mut output, &mut second)];
            assert_eq!(self.queue.process(&mut ops).succeeded, 1);
            self.results.push(ops[0].result().to_vec());
        }
    }
}
