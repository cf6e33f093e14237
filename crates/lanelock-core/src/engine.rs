//! What an engine offers and how a burst reaches it.

use std::any::Any;

pub use crate::group::{Batch, Grouping, Ops};
pub use crate::op::{
    Ciphertext, Columns, FedPayload, FedPayloads, FedRecords, Feed, LastSession, Likeness, Lone,
    Plain, PlainAead, PlainAeads, PlainPayloads, PlainTag, PlainTags, Record, ValidOp,
};
pub use crate::per_queue::{PerQueue, QueueToken};
pub use crate::stats::Counters;
pub use crate::wiped::Wiped;

use crate::algorithm::Algorithm;
use crate::session::{SessionError, SessionMemory};
use crate::sizes::Sizes;
use crate::status::Status;
use crate::transform::Transform;

/// An implementation of a set of algorithms.
pub trait Engine: Send + Sync {
    /// A short lower-case name by which callers select the engine.
    fn name(&self) -> &'static str;

    /// The implementation underneath and its version, for reports.
    fn version(&self) -> String;

    /// What is offered, one row for each algorithm family; a chain is offered if both its halves
    /// are offered with [`Features::chains`].
    fn capabilities(&self) -> &[Capability];

    /// Prepares `transform`, which has passed [`Transform::validate`]. The session's memory is wiped
    /// as a whole before it is freed ([`Wiped`]); boxes inside it are the engine's to wipe.
    ///
    /// # Errors
    /// On [`SessionError::Unsupported`], an automatic choice goes on to the next engine; any other
    /// error ends it.
    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError>;

    /// What this engine offers besides the operations of this crate: a value whose type is defined,
    /// and looked up, by the crate of those other operations.
    fn extension(&self) -> Option<&dyn Any> {
        None
    }
}

/// The engine's part of a session: keys prepared once, immutable except for [`PerQueue`] contexts.
pub trait EngineSession: Any + Send + Sync {
    /// Operations whose sessions have the same number are handed over together. The engine chooses
    /// the numbers.
    fn group(&self) -> u16;

    /// Runs the operations of one group, in any order, and completes each one. Called on the
    /// session of the first; the others are reached through [`ValidOp::session`]. `queue` is the
    /// calling queue pair's key to its contexts.
    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>);

    /// Runs the only operation of a burst, of this session, as [`EngineSession::process`] would; returns how
    /// it ended, which an engine need not record.
    fn process_lone(&self, queue: &mut QueueToken, op: Lone<'_, '_>) -> Status {
        op.in_batch(|batch| self.process(queue, batch))
    }

    /// Which bursts that begin with an operation of this session go through [`EngineSession::feed`]. The
    /// answer is the same for sessions that differ in their keys alone.
    fn fed(&self) -> Fed {
        Fed::NONE
    }

    /// Runs operations as it takes them from `feed`, up to one that is not to be had there; that and
    /// what follows comes through [`EngineSession::process`]. Called on the session of the first.
    fn feed(&self, _feed: &mut Feed<'_, '_>) {}

    /// Bytes held by the session itself, and by each queue pair's context.
    fn memory(&self) -> SessionMemory;
}

/// Which bursts of several operations an engine takes one by one. A burst is fed if any of this holds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fed {
    /// It has no more operations.
    pub few: u32,
    /// It has no more operations, and the first an input of `lengths`.
    pub most: u32,
    /// Bytes, from the least to the largest.
    pub lengths: [u32; 2],
    /// The first has an input of `lengths`, of at least so many bytes.
    pub long: u32,
    /// The inputs seem to have several lengths, as a look at some of them says.
    pub unlike: bool,
    /// The first two have different sessions.
    pub many_keys: bool,
}

impl Fed {
    /// No burst.
    pub const NONE: Self = Self {
        few: 0,
        most: 0,
        lengths: [0; 2],
        long: u32::MAX,
        unlike: false,
        many_keys: false,
    };

    /// Every burst.
    pub const ALL: Self = Self {
        few: u32::MAX,
        ..Self::NONE
    };
}

/// One algorithm family as an engine offers it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Capability {
    /// The family; never a chain.
    pub algorithm: Algorithm,
    /// Key lengths, in bytes.
    pub key: Sizes,
    /// IV lengths, in bytes.
    pub iv: Sizes,
    /// Tag or digest lengths, in bytes.
    pub tag: Sizes,
    /// Longest additional data, in bytes; 0 for none.
    pub max_aad: usize,
    /// What else holds for this algorithm on this engine.
    pub features: Features,
}

/// Properties of one algorithm on one engine. Every engine serves every layout of a buffer; these
/// say what it costs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Features {
    /// It can be half of a chain.
    pub chains: bool,
    /// A payload in several segments is first gathered into one: the algorithm's implementation
    /// accepts only whole messages.
    pub gathers_segments: bool,
    /// The implementation underneath allocates memory for each operation.
    pub allocates: bool,
    /// The key is set again for each operation.
    pub rekeys: bool,
}

impl Capability {
    /// A row with the sizes that the algorithm's standard allows.
    ///
    /// # Panics
    /// For a chain.
    #[must_use]
    pub fn standard(algorithm: Algorithm, features: Features) -> Self {
        let is_chain = matches!(algorithm, Algorithm::Chain(..));
        assert!(!is_chain, "a chain is offered through its halves");
        let row = algorithm.row();
        Self {
            algorithm,
            key: row.key,
            iv: row.iv,
            tag: row.tag,
            max_aad: row.max_aad,
            features,
        }
    }
}

/// Whether `capabilities` offer `algorithm`, a chain through its halves.
#[must_use]
pub fn offers(capabilities: &[Capability], algorithm: Algorithm) -> bool {
    let row = |a| capabilities.iter().find(|row| row.algorithm == a);
    match algorithm {
        Algorithm::Chain(_, cipher, mac) => [Algorithm::Cipher(cipher), Algorithm::Mac(mac)]
            .into_iter()
            .all(|half| row(half).is_some_and(|row| row.features.chains)),
        single => row(single).is_some(),
    }
}
