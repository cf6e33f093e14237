//! The core from outside: through its public interface, with the toy engine.

#![allow(clippy::unwrap_used)] // the helpers are tests too

mod devices;
mod engines;
mod feeds;
mod jobs;
mod overlap;
mod properties;
mod queue_pairs;
mod records;
mod specs;
mod support;
mod table;
mod threads;
mod validation;
mod walks;
