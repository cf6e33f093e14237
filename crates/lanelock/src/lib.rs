#![doc = include_str!("../README.md")]
#![doc = include_str!("features.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "async")]
pub mod asynchronous;
mod default_device;
pub mod engine;
pub mod public_key;
pub mod raw;

pub use default_device::{builder, open, open_public_keys};
pub use lanelock_core::op::OpError;
pub use lanelock_core::{
    Aead, Algorithm, Buffer, BurstOutcome, Cipher, Device, DeviceBuilder, Hash, InvalidReason, Job,
    JobBuffer, Mac, Op, QueuePair, Session, SessionError, Status, Transform,
};
pub use lanelock_core::{algorithm, buffer, job, session, sizes, stats, transform};
#[cfg(feature = "telemetry")]
pub use lanelock_telemetry as telemetry;
