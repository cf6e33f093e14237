//! The core from outside: through its public interface, with the toy engine.

mod devices;
mod engines;
mod jobs;
mod overlap;
mod properties;
mod queue_pairs;
mod support;
mod threads;
mod validation;
