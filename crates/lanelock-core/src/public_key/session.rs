//! A key prepared once for one operation, which every queue of its device can use.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::algorithm::KeySpec;
use super::costs::Costs;
use super::engine::KeyEngineSession;
use super::shape::Shape;
use super::transform::KeyTransform;
use crate::engine::Wiped;
use crate::session::SessionMemory;

/// A [`KeyTransform`] prepared by one engine, or by two: one that runs many operations in
/// lockstep, and one that runs those too few for it one at a time.
///
/// Immutable and shared freely between threads; cloning clones a reference. Keys are wiped when
/// the last clone goes and no queue uses them.
#[derive(Clone)]
pub struct KeySession(Arc<Wiped<KeySessionInner>>);

pub(crate) struct KeySessionInner {
    pub(crate) shape: Shape,
    pub(crate) group: KeyGroup,
    pub(crate) primary: Prepared,
    /// Runs what is too little for `primary`'s lanes.
    pub(crate) single: Option<Prepared>,
    pub(crate) costs: Arc<Costs>,
    spec: KeySpec,
}

/// Which operations may run in one call: same device, engines and engine-chosen group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct KeyGroup {
    pub(crate) device: u32,
    primary: u16,
    single: Option<u16>,
    group: u32,
}

/// A session on one engine.
pub(crate) struct Prepared {
    /// The engine's place on the device.
    index: u16,
    pub(crate) engine: &'static str,
    pub(crate) session: Box<Wiped<dyn KeyEngineSession>>,
    pub(crate) lanes: usize,
    /// Whether it has run, and made what its first operation makes.
    ran: AtomicBool,
}

/// Which of a session's engines runs a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Lanes,
    Single,
}

impl Prepared {
    pub(super) fn new(
        index: usize,
        engine: &'static str,
        session: Box<dyn KeyEngineSession>,
    ) -> Self {
        let session = Wiped::boxed(session);
        let lanes = session.lanes().max(1);
        Self {
            index: u16::try_from(index).expect("checked when the device was built"),
            engine,
            session,
            lanes,
            ran: AtomicBool::new(false),
        }
    }

    /// Whether it has run before, which from now on it has.
    pub(super) fn has_run(&self) -> bool {
        // A load first: the flag is shared by every queue.
        self.ran.load(Ordering::Relaxed) || self.ran.swap(true, Ordering::Relaxed)
    }
}

impl KeySessionInner {
    pub(crate) fn spec(&self) -> KeySpec {
        self.spec
    }

    /// The engine's part on the side that a batch is for.
    pub(crate) fn on(&self, side: Side) -> &Prepared {
        match (side, &self.single) {
            (Side::Single, Some(single)) => single,
            _ => &self.primary,
        }
    }
}

impl KeySession {
    pub(super) fn new(
        device: u32,
        transform: &KeyTransform,
        primary: Prepared,
        single: Option<Prepared>,
    ) -> Self {
        let spec = transform.spec();
        let group = KeyGroup {
            device,
            primary: primary.index,
            single: single.as_ref().map(|single| single.index),
            group: primary.session.group(),
        };
        let single_name = single.as_ref().map(|single| single.engine);
        let lanes = (primary.engine, primary.lanes);
        Self(Arc::new(Wiped::new(KeySessionInner {
            shape: Shape::of(transform),
            group,
            costs: Costs::of(lanes, single_name, spec),
            primary,
            single,
            spec,
        })))
    }

    pub(crate) fn inner(&self) -> &KeySessionInner {
        &self.0
    }

    /// Operation, kind of key and scheme.
    #[must_use]
    pub fn spec(&self) -> KeySpec {
        self.0.spec
    }

    /// Name of the engine that runs its batches.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.0.primary.engine
    }

    /// Name of the engine that runs operations too few for a batch.
    #[must_use]
    pub fn single_engine(&self) -> &'static str {
        self.0.single.as_ref().unwrap_or(&self.0.primary).engine
    }

    /// Operations that run in lockstep; 1 if each runs by itself.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.0.primary.lanes
    }

    /// Fewest operations that are faster in lanes than one at a time, as this process has measured
    /// it; `None` before that, and where there is no choice.
    #[must_use]
    pub fn break_even(&self) -> Option<usize> {
        self.0.costs.break_even()
    }

    /// Room that an operation's output needs if its input has `input_len` bytes.
    #[must_use]
    pub fn output_len(&self, input_len: usize) -> usize {
        self.0.shape.output.needed(input_len)
    }

    /// Room that an operation's second output needs: the public key that is generated, the shared
    /// secret that is encapsulated; 0 for other operations.
    #[must_use]
    pub fn second_output_len(&self) -> usize {
        self.0.shape.second
    }

    /// Memory held, as the engines count it.
    #[must_use]
    pub fn memory(&self) -> SessionMemory {
        let engines = [Some(&self.0.primary), self.0.single.as_ref()];
        let own = SessionMemory {
            session: size_of::<KeySessionInner>(),
            per_queue_pair: 0,
        };
        engines.into_iter().flatten().fold(own, |sum, prepared| {
            let engine = prepared.session.memory();
            SessionMemory {
                session: sum.session + engine.session,
                per_queue_pair: sum.per_queue_pair + engine.per_queue_pair,
            }
        })
    }
}

/// Shows the algorithm and the engines, never a key.
impl fmt::Debug for KeySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySession")
            .field("spec", &self.spec().to_string())
            .field("engine", &self.engine())
            .field("single_engine", &self.single_engine())
            .finish_non_exhaustive()
    }
}
