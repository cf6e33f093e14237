//! Public-key operations as futures, for any runtime.
//!
//! A [`KeyService`] shares one [`KeyQueue`] among the tasks of a thread. A call such as
//! [`Signer::sign`] hands a job to the queue and completes when a poll of the queue has run it:
//! a poll by the task that fills the batch, or by [`KeyService::drive`] when the deadline passes.
//! The service has neither a thread nor a timer; the runtime's timer is an argument.
//!
//! Messages are copied into the job, and the job belongs to the queue until it has run: a future
//! can be dropped at any time, which cancels its job or discards the result, wiped.
//!
//! If an engine panics, only the unfinished operations of its batch fail: the panic does not unwind
//! the task whose poll happened to run the batch.

mod pending;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use lanelock_core::Device;
use lanelock_public_key::{
    FlushPolicy, KeyJob, KeyOpError, KeyQueue, KeyQueueStats, KeySession, Ticket,
};
use zeroize::Zeroizing;

use crate::public_key::KeyDevice;
use pending::Pending;

/// The memory of a job: wiped when it goes.
type Bytes = Zeroizing<Vec<u8>>;

/// A queue shared by tasks. Cheap to clone; every clone is the same queue.
///
/// Batches run inside the poll of the task that completes them, under a lock: give each thread of
/// a runtime a service of its own.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use lanelock::Status;
/// use lanelock::asynchronous::KeyService;
/// use lanelock::public_key::{FlushPolicy, KeyDevice, KeyJob, KeyKind, KeyTransform};
///
/// let device = lanelock::open()?;
/// let service = KeyService::new(&device, 256, FlushPolicy::default());
/// let session = device.key_session(&KeyTransform::generate(KeyKind::X25519))?;
/// let _only_task = service.submitter(); // no other task to wait for
/// let job = KeyJob::generate(&session, vec![0; 32].into(), vec![0; 32].into());
/// let job = service.run(job).await;
/// assert_eq!(job.status(), Status::Success);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeyService(Arc<Mutex<Inner>>);

struct Inner {
    queue: KeyQueue<Bytes>,
    /// Futures whose jobs wait, and results that have not been fetched.
    slots: HashMap<Ticket, Slot>,
    /// Futures that found the queue full, by their places in line.
    no_room: BTreeMap<Place, Waker>,
    next_place: Place,
    submitters: usize,
    driver: Option<Waker>,
}

/// Numbers the futures that have ever found the queue full.
type Place = u64;

enum Slot {
    Waiting(Waker),
    Done(KeyJob<Bytes>),
}

/// Registers one task that may submit, for as long as it lives; see [`KeyService::submitter`].
///
/// ```
/// use lanelock::asynchronous::KeyService;
/// use lanelock::public_key::FlushPolicy;
///
/// let service = KeyService::new(&lanelock::open()?, 256, FlushPolicy::default());
/// let of_this_connection = service.submitter();
/// drop(of_this_connection); // when the connection closes
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[must_use]
pub struct Submitter(KeyService);

/// Why a call has no result.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use lanelock::asynchronous::{KeyExchange, KeyService};
/// use lanelock::public_key::{FlushPolicy, KeyDevice, KeyKind, KeyReason, KeyTransform, SecretKey};
///
/// let device = lanelock::open()?;
/// let key = SecretKey::raw(KeyKind::X25519, &[7; 32])?;
/// let session = device.key_session(&KeyTransform::derive(&key))?;
/// let service = KeyService::new(&device, 256, FlushPolicy::default());
/// let _only_task = service.submitter();
/// let failure = KeyExchange::new(&service, &session).derive(&[0; 31]).await.unwrap_err();
/// let reason = failure.error().map(|error| error.reason());
/// assert_eq!(reason, Some(KeyReason::PeerLength));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyFailure(Option<KeyOpError>);

/// Signs with one key.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use lanelock::asynchronous::{KeyService, Signer};
/// use lanelock::public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
///
/// let device = lanelock::open()?;
/// let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// let service = KeyService::new(&device, 256, FlushPolicy::default());
/// let _only_task = service.submitter();
/// let signature = Signer::new(&service, &session).sign(b"a message").await?;
/// assert_eq!(signature.len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signer {
    service: KeyService,
    session: KeySession,
}

/// Agrees on shared secrets with one key.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use lanelock::asynchronous::{KeyExchange, KeyService};
/// use lanelock::public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey};
///
/// let device = lanelock::open()?;
/// let key = SecretKey::raw(KeyKind::X25519, &[7; 32])?;
/// let session = device.key_session(&KeyTransform::derive(&key))?;
/// let service = KeyService::new(&device, 256, FlushPolicy::default());
/// let _only_task = service.submitter();
/// let peer = [9; 32];
/// let secret = KeyExchange::new(&service, &session).derive(&peer).await?;
/// assert_eq!(secret.len(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyExchange {
    service: KeyService,
    session: KeySession,
}

impl KeyService {
    /// A service whose queue holds up to `depth` jobs; calls beyond that wait for room.
    #[must_use]
    pub fn new(device: &Device, depth: usize, policy: FlushPolicy) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            queue: device.key_queue_of(depth, policy),
            slots: HashMap::new(),
            no_room: BTreeMap::new(),
            next_place: 0,
            submitters: 0,
            driver: None,
        })))
    }

    /// Registers a task that may submit. Once as many jobs wait as there are registered tasks,
    /// they run at once: no task is left that could add to the batch. With none registered, a
    /// partial batch waits for its deadline.
    pub fn submitter(&self) -> Submitter {
        self.lock().submitters += 1;
        Submitter(self.clone())
    }

    /// Runs a job of any kind; the job comes back with its status, result and memory.
    pub fn run(
        &self,
        job: KeyJob<Zeroizing<Vec<u8>>>,
    ) -> impl Future<Output = KeyJob<Bytes>> + Send {
        Pending::new(self.clone(), job)
    }

    /// Runs what is due at `now`, and wakes the tasks whose jobs finished; returns how many.
    pub fn poll(&self, now: Instant) -> usize {
        let mut inner = self.lock();
        let wakers = inner.poll(now);
        let count = wakers.len();
        // Not under the lock: a waker may poll its future then and there.
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        count
    }

    /// Runs the queue when its deadlines pass, and never returns: spawn it as a task of its own,
    /// next to those that submit. `sleep_until` is the runtime's timer; one that is coarser than
    /// the policy's deadline makes lone jobs wait that much longer.
    pub async fn drive<S, F>(&self, mut sleep_until: S)
    where
        S: FnMut(Instant) -> F,
        F: Future<Output = ()>,
    {
        loop {
            let due = poll_fn(|context| {
                let waker = context.waker().clone();
                let mut inner = self.lock();
                if let Some(due) = inner.queue.due_at() {
                    return Poll::Ready(due);
                }
                // Dropped without the lock: it may be the last to keep a task alive whose
                // futures take it.
                let stale = inner.driver.replace(waker);
                drop(inner);
                drop(stale);
                Poll::Pending
            });
            sleep_until(due.await).await;
            self.poll(Instant::now());
        }
    }

    /// The queue's counters.
    #[must_use]
    pub fn stats(&self) -> KeyQueueStats {
        self.lock().queue.stats()
    }

    /// Jobs that wait to be run.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().queue.waiting()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // An engine's panic is caught, and observers do not panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Runs what is due; returns the tasks to wake.
    fn poll(&mut self, now: Instant) -> Vec<Waker> {
        let submitters = (self.submitters > 0).then_some(self.submitters);
        loop {
            let waiting = self.queue.waiting();
            let run = || self.queue.poll(now, submitters);
            // An engine that panics leaves the queue consistent and its batch finished, but not
            // what else is due.
            let panicked = catch_unwind(AssertUnwindSafe(run)).is_err();
            if !panicked || self.queue.waiting() == waiting {
                return self.collect();
            }
        }
    }

    /// Moves finished jobs to their futures; returns the tasks to wake.
    fn collect(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let in_flight = self.queue.in_flight();
        while let Some((ticket, job)) = self.queue.dequeue_one() {
            // A job whose future is gone goes, too.
            if let Some(slot) = self.slots.get_mut(&ticket)
                && let Slot::Waiting(waker) = std::mem::replace(slot, Slot::Done(job))
            {
                wakers.push(waker);
            }
        }
        if self.queue.in_flight() < in_flight {
            wakers.extend(self.take_no_room());
        }
        wakers
    }

    /// A place at the end of the line.
    fn next_place(&mut self) -> Place {
        self.next_place += 1;
        self.next_place
    }

    /// Takes the wakers of the futures that wait for room, in their order.
    fn take_no_room(&mut self) -> impl Iterator<Item = Waker> + use<> {
        std::mem::take(&mut self.no_room).into_values()
    }
}

impl Signer {
    /// Signs through `service` with `session`, which was made to sign.
    #[must_use]
    pub fn new(service: &KeyService, session: &KeySession) -> Self {
        Self {
            service: service.clone(),
            session: session.clone(),
        }
    }

    /// Signs a message (or its digest, as the session says).
    ///
    /// # Errors
    /// Why the operation failed.
    pub async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyFailure> {
        let job = job(&self.session, message, KeyJob::sign);
        let done = self.service.run(job).await;
        KeyFailure::of(&done)?;
        Ok(done.result().to_vec())
    }
}

impl KeyExchange {
    /// Agrees through `service` with `session`, which was made to derive.
    #[must_use]
    pub fn new(service: &KeyService, session: &KeySession) -> Self {
        Self {
            service: service.clone(),
            session: session.clone(),
        }
    }

    /// The secret shared with the owner of `peer`; wiped on drop.
    ///
    /// # Errors
    /// Why the operation failed: for example, the peer's key is not a point of the curve, or has a
    /// small order. The order of a Diffie-Hellman peer is checked if the group's order is known.
    pub async fn derive(&self, peer: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyFailure> {
        let job = job(&self.session, peer, KeyJob::derive);
        let done = self.service.run(job).await;
        KeyFailure::of(&done)?;
        Ok(Zeroizing::new(done.result().to_vec()))
    }
}

fn job(
    session: &KeySession,
    input: &[u8],
    make: impl FnOnce(&KeySession, Bytes, Bytes) -> KeyJob<Bytes>,
) -> KeyJob<Bytes> {
    let room = session.output_len(input.len());
    let (input, output) = (
        Zeroizing::new(input.to_vec()),
        Zeroizing::new(vec![0; room]),
    );
    make(session, input, output)
}

impl KeyFailure {
    fn of(job: &KeyJob<Bytes>) -> Result<(), Self> {
        match job.status() {
            lanelock_core::Status::Success => Ok(()),
            _ => Err(Self(job.error().cloned())),
        }
    }

    /// The engine's or the validation's reason, as [`KeyJob::error`] reports it; if the engine
    /// panicked, [`lanelock_public_key::KeyReason::Engine`].
    #[must_use]
    pub fn error(&self) -> Option<&KeyOpError> {
        self.0.as_ref()
    }
}

impl fmt::Display for KeyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(error) => error.fmt(f),
            None => f.write_str("engine: failed"),
        }
    }
}

impl std::error::Error for KeyFailure {}

impl Drop for Submitter {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.submitters -= 1;
        // Those who wait may now be all there are.
        let wakers = inner.poll(Instant::now());
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for KeyService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyService")
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Submitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Submitter").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests;
