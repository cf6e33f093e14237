//! The engine whose results a few lines on flat slices repeat.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lanelock_core::algorithm::{MAX_IV_LEN, Order};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{
    Batch, Capability, Ciphertext, Engine, EngineSession, Features, PerQueue, QueueToken, ValidOp,
    offers,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Device, SessionError, Status, Transform};

use crate::math::{MAX_TAG, Stream, Sum};

/// An engine that secures nothing.
#[derive(Debug)]
pub struct ToyEngine {
    name: &'static str,
    capabilities: Vec<Capability>,
    group: fn(&Transform) -> u16,
    trouble: Vec<(usize, Trouble)>,
    shared: Arc<Shared>,
}

/// A device with an engine called `toy` that offers everything, for examples.
#[must_use]
pub fn device() -> Device {
    Device::builder().engine(ToyEngine::new("toy")).build()
}

/// What goes wrong with operations of a chosen length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// The engine writes the payload and leaves no result.
    Forget,
    /// The engine says that it failed.
    Fail,
    /// The engine panics in the middle of the payload.
    Panic,
}

/// One call of the engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// The engine's name.
    pub engine: &'static str,
    /// The group it was called for.
    pub group: u16,
    /// Lengths of the operations in their order, the longer of payload and authenticated range.
    pub lengths: Vec<usize>,
}

/// A test's view of an engine that a device owns.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    contexts: AtomicUsize,
    calls: Option<Mutex<Vec<Call>>>,
}

struct ToySession {
    algorithm: Algorithm,
    direction: Direction,
    key: Vec<u8>,
    mac_key: Vec<u8>,
    engine: &'static str,
    group: u16,
    trouble: Vec<(usize, Trouble)>,
    contexts: PerQueue<Context>,
    shared: Arc<Shared>,
}

/// What two threads must never share: every message passes through `state`.
struct Context {
    state: Option<(Stream, Sum)>,
    alive: Arc<Shared>,
}

impl ToyEngine {
    /// An engine that offers everything, as one group.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        let standard = |algorithm| {
            let features = Features {
                chains: true,
                ..Features::default()
            };
            Capability::standard(algorithm, features)
        };
        Self {
            name,
            capabilities: Algorithm::families().map(standard).collect(),
            group: |_| 0,
            trouble: Vec::new(),
            shared: Arc::default(),
        }
    }

    /// Offers these algorithms only.
    #[must_use]
    pub fn only(mut self, algorithms: &[Algorithm]) -> Self {
        self.capabilities
            .retain(|row| algorithms.contains(&row.algorithm));
        self
    }

    /// Chooses each session's group.
    #[must_use]
    pub fn group_by(mut self, group: fn(&Transform) -> u16) -> Self {
        self.group = group;
        self
    }

    /// Has trouble with each operation whose payload or authenticated range has `len` bytes.
    #[must_use]
    pub fn trouble_at(mut self, len: usize, trouble: Trouble) -> Self {
        self.trouble.push((len, trouble));
        self
    }

    /// Remembers its calls, which allocates.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.shared = Arc::new(Shared {
            calls: Some(Mutex::default()),
            ..Shared::default()
        });
        self
    }

    /// A view for a test to keep; taken after the other settings.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(self.shared.clone())
    }
}

impl Watch {
    /// Contexts alive, over all sessions and queue pairs.
    #[must_use]
    pub fn contexts(&self) -> usize {
        self.0.contexts.load(Ordering::SeqCst)
    }

    /// The calls since the last time; none unless the engine is [`ToyEngine::recording`].
    #[must_use]
    pub fn take_calls(&self) -> Vec<Call> {
        self.0.calls.as_ref().map_or_else(Vec::new, |calls| {
            std::mem::take(&mut calls.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}

impl Engine for ToyEngine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        let unsupported = |why: &str| {
            Err(SessionError::Unsupported {
                what: transform.spec(),
                why: why.to_owned(),
            })
        };
        if !offers(&self.capabilities, transform.algorithm()) {
            return unsupported("not on the toy's list");
        }
        if transform.tag_length() > MAX_TAG {
            return unsupported("the toy's tags end at 64 bytes");
        }
        Ok(Box::new(ToySession {
            algorithm: transform.algorithm(),
            direction: transform.direction(),
            key: transform.key().to_vec(),
            mac_key: transform.mac_key().to_vec(),
            engine: self.name,
            group: (self.group)(transform),
            trouble: self.trouble.clone(),
            contexts: PerQueue::new(),
            shared: self.shared.clone(),
        }))
    }
}

impl EngineSession for ToySession {
    fn group(&self) -> u16 {
        self.group
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        if let Some(calls) = &self.shared.calls {
            let mut lengths = Vec::new();
            batch.for_each(|op| lengths.push(length(&op)));
            calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Call {
                    engine: self.engine,
                    group: self.group,
                    lengths,
                });
        }
        batch.for_each(|mut op| {
            let session: &Self = op.session().expect("every session of the batch is a toy's");
            let Ok(context) = session.contexts.get_or_try_make(queue, || {
                session.shared.contexts.fetch_add(1, Ordering::SeqCst);
                Ok::<_, Infallible>(Context {
                    state: None,
                    alive: session.shared.clone(),
                })
            });
            session.run(context, &mut op);
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory {
            session: size_of::<Self>() + self.key.len() + self.mac_key.len(),
            per_queue_pair: size_of::<Context>(),
        }
    }
}

impl ToySession {
    fn run(&self, context: &mut Context, op: &mut ValidOp<'_, '_>) {
        let mut scratch = [0; MAX_IV_LEN];
        let iv = op.iv(&mut scratch);
        let sum = match self.algorithm {
            Algorithm::Chain(..) => Sum::new(&self.mac_key, &[]),
            _ => Sum::new(&self.key, iv),
        };
        let (stream, sum) = context.state.insert((Stream::new(&self.key, iv), sum));
        let trouble = self.trouble.iter().find(|(len, _)| *len == length(op));
        match trouble {
            Some((_, Trouble::Fail)) => return op.complete(Status::EngineError),
            Some((_, Trouble::Forget)) => {
                return run_cipher(self.direction, stream, op.payload());
            }
            Some((_, Trouble::Panic)) => {
                run_cipher(self.direction, stream, op.payload());
                panic!("the toy was told to panic");
            }
            None => {}
        }
        let status = match self.direction {
            Direction::Forward => {
                self.protect(stream, sum, op);
                Status::Success
            }
            Direction::Reverse => self.undo(stream, sum, op),
        };
        op.complete(status);
    }

    fn protect(&self, stream: &mut Stream, sum: &mut Sum, op: &mut ValidOp<'_, '_>) {
        let forward = Direction::Forward;
        match self.algorithm {
            Algorithm::Cipher(_) => run_cipher(forward, stream, op.payload()),
            Algorithm::Aead(_) => {
                run_cipher(forward, stream, op.payload());
                add_aead(sum, op, |op| op.output_payload());
                op.write_tag(&sum.tag());
            }
            Algorithm::Chain(Order::MacThenEncrypt, ..) => {
                add_authenticated(sum, op, Ciphertext::InInput);
                if op.tag_in_payload() {
                    op.copy_payload_to_output();
                    op.write_tag(&sum.tag());
                    run_cipher(forward, stream, op.output_payload());
                } else {
                    run_cipher(forward, stream, op.payload());
                    op.write_tag(&sum.tag());
                }
            }
            _ => {
                run_cipher(forward, stream, op.payload());
                add_authenticated(sum, op, Ciphertext::InOutput);
                op.write_tag(&sum.tag());
            }
        }
    }

    fn undo(&self, stream: &mut Stream, sum: &mut Sum, op: &mut ValidOp<'_, '_>) -> Status {
        let reverse = Direction::Reverse;
        match self.algorithm {
            Algorithm::Cipher(_) => {
                run_cipher(reverse, stream, op.payload());
                return Status::Success;
            }
            Algorithm::Chain(Order::MacThenEncrypt, ..) => {
                run_cipher(reverse, stream, op.payload());
                add_authenticated(sum, op, Ciphertext::InOutput);
                if op.tag_matches(&sum.tag()) {
                    return Status::Success;
                }
                op.wipe_output();
                return Status::AuthFailed;
            }
            Algorithm::Aead(_) => add_aead(sum, op, |op| op.payload()),
            _ => add_authenticated(sum, op, Ciphertext::InInput),
        }
        if !op.tag_matches(&sum.tag()) {
            return Status::AuthFailed;
        }
        run_cipher(reverse, stream, op.payload());
        Status::Success
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.alive.contexts.fetch_sub(1, Ordering::SeqCst);
    }
}

fn length(op: &ValidOp<'_, '_>) -> usize {
    op.payload_len().max(op.auth_len())
}

fn run_cipher(direction: Direction, stream: &mut Stream, payload: Cursor<'_>) {
    let Ok(()) = payload.for_each_block_run(16, |mut run| {
        run.copy_through();
        match direction {
            Direction::Forward => stream.encrypt(run.output_bytes()),
            Direction::Reverse => stream.decrypt(run.output_bytes()),
        }
        Ok::<_, Infallible>(())
    });
}

fn add_authenticated(sum: &mut Sum, op: &ValidOp<'_, '_>, ciphertext: Ciphertext) {
    let Ok(()) = op.for_each_authenticated(ciphertext, |piece| {
        sum.add(piece);
        Ok::<_, Infallible>(())
    });
}

/// Additional data, then the ciphertext under `cursor`.
fn add_aead<'o, 'a>(
    sum: &mut Sum,
    op: &'o mut ValidOp<'_, 'a>,
    cursor: impl FnOnce(&'o mut ValidOp<'_, 'a>) -> Cursor<'o>,
) {
    let Ok(()) = op.for_each_aad(|piece| {
        sum.add(piece);
        Ok::<_, Infallible>(())
    });
    let mut cursor = cursor(op);
    while let Some(run) = cursor.next_run(usize::MAX) {
        sum.add(run.input_bytes());
    }
}
