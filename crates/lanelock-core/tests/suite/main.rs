//! The core from outside: through its public interface, with the toy engine.

mod properties;
