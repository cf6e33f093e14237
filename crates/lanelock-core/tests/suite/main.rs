//! The core from outside: through its public interface, with the toy engine.

mod overlap;
mod properties;
mod support;
mod validation;
