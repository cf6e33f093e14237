//! The interface of engines, for programs that add one of their own to a device
//! ([`crate::DeviceBuilder::engine`]). A crate that only implements an engine depends on
//! `lanelock-core`, and for public keys on `lanelock-public-key`, which have the same items.
//!
//! It changes more often than the rest of this crate. An application that uses the existing engines
//! does not need it.

pub use lanelock_core::engine::*;
pub use lanelock_core::{cursor, environment};

/// The half of an engine that serves public keys, and what observes the queues of a device.
pub mod public_key {
    pub use lanelock_public_key::engine::*;
    pub use lanelock_public_key::{
        BatchStart, Completion, KeyDeviceBuilder, KeyObserver, ObserverMaker, Tickets,
        implicit_rejection, pair,
    };
}
