//! Public-key operations: keys, sessions, operations, and the queue that fills lanes with them.
//!
//! ```text
//! key → transform → session        (once)
//! op or job → queue → batch of one algorithm and size → engine → result
//! ```
//!
//! A [`KeyTransform`] is prepared by [`KeyDevice::key_session`] on a device of `lanelock-core`, and
//! [`KeyDevice::key_queue`] makes a thread's [`KeyQueue`]. Engines implement [`engine::KeyEngine`].
//! A session runs on one engine, the first of its device that offers the operation: in lanes, or
//! one at a time.
//!
//! Grouping, contexts, statuses and outcomes are those of `lanelock-core`. Applications use the
//! `lanelock` crate, which has all of this as `lanelock::public_key`.

#![forbid(unsafe_code)]

mod algorithm;
mod alone;
mod batch;
mod device;
pub mod engine;
mod error;
mod flush;
pub mod implicit_rejection;
mod job;
mod key;
mod observer;
mod op;
pub mod pair;
mod queue;
mod runner;
mod schedule;
mod session;
mod shape;
mod stats;
mod status;
#[doc(hidden)]
pub mod taint;
mod transform;

pub use algorithm::{
    Curve, EncryptionScheme, KeyKind, KeySpec, MlDsa, MlKem, Oaep, Operation, Pss, Scheme,
    SignatureScheme,
};
pub use device::{KeyDevice, KeyDeviceBuilder};
pub use error::KeyError;
pub use flush::{FlushPolicy, Waiting};
pub use job::{KeyBuffers, KeyJob};
pub use key::{
    DomainParameters, PublicKey, PublicParts, RsaCrt, RsaNumbers, RsaPublic, RsaSecret, SecretKey,
    SecretParts,
};
pub use observer::{BatchStart, Completion, KeyObserver, ObserverMaker, Tickets};
pub use op::{KeyOp, KeyOpError, KeyParts};
pub use queue::KeyQueue;
pub use schedule::Ticket;
pub use session::KeySession;
pub use stats::KeyQueueStats;
pub use status::KeyReason;
pub use transform::{Key, KeyTransform, MessageForm, SignatureForm};
