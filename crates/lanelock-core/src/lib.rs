//! The part of lanelock without cryptography: what an application describes (transforms,
//! sessions, operations), where the bytes are (buffers, the cursor), and how a burst travels
//! from its caller to an engine and back (validation, grouping, queue pairs, statistics).
//!
//! ```text
//! op → validation → grouping → engine → status
//! ```
//!
//! An engine may ask to take the operations of a burst one by one ([`engine::Feed`]): each is validated when
//! it is taken, and the others go the way above.
//!
//! Applications use the `lanelock` crate, which re-exports what they need; engines implement
//! [`engine::Engine`] against this crate alone.
//!
//! Unsafe code lives behind safe interfaces: in [`buffer`], [`cursor`] and the engine's view of an
//! operation ([`engine::ValidOp`]), which deal in pointers into the caller's memory, in
//! [`per_queue`], a context that only one queue pair reaches, in [`engine::Wiped`], memory that is
//! wiped before it is freed, in one downcast in [`session`], in one call of the C library in
//! [`environment`], and in one hint to the CPU's caches.

#![deny(unsafe_code)]

mod ahead;
pub mod algorithm;
pub mod buffer;
mod burst;
pub mod cursor;
pub mod device;
pub mod engine;
pub mod environment;
mod group;
mod halves;
pub mod job;
pub mod op;
pub mod per_queue;
pub mod queue_pair;
pub mod session;
mod shared;
pub mod sizes;
pub mod stats;
pub mod status;
pub mod transform;
mod validate;
mod wiped;

pub use algorithm::{Aead, Algorithm, Cipher, Hash, Mac};
pub use buffer::Buffer;
pub use device::{Device, DeviceBuilder};
pub use job::{Job, JobBuffer};
pub use op::Op;
pub use queue_pair::{BurstOutcome, QueuePair};
pub use session::{Session, SessionError};
pub use status::{InvalidReason, Status};
pub use transform::Transform;
