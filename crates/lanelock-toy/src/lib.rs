//! What the tests and fuzz targets of `lanelock-core` share: an engine that secures nothing, and
//! independent models to hold the core against.
//!
//! [`ToyEngine`] offers every algorithm with arithmetic that a few lines repeat on flat slices
//! ([`math`]), reads every byte that an operation entitles it to and writes every byte that it may
//! write. [`Probe`] hands each valid operation to a closure. [`check_operation`],
//! [`check_cursor`] and [`check_segments`] turn arbitrary bytes into a case and panic if the core
//! disagrees with the model: proptest and cargo-fuzz both drive them.

mod bytes;
mod cursor;
mod engine;
pub mod math;
mod menu;
mod operation;
mod probe;
mod segments;

pub use cursor::check_cursor;
pub use engine::{Call, ToyEngine, Trouble, Watch};
pub use menu::{Item, MENU};
pub use operation::{Verdict, check_operation};
pub use probe::Probe;
pub use segments::check_segments;
