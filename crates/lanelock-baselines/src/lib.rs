//! What programs do around OpenSSL's ciphers that need not be done: each habit an engine of its
//! own, to be measured against the one that does without.
//!
//! Everything else is as in the OpenSSL engine: keyed contexts are kept, IVs are the only thing
//! that is set. So the difference to it is the price of the habit, with nothing else in it. They
//! are for benchmarks; no application should use them.
//!
//! | habit | for each operation |
//! |---|---|
//! | [`Habit::ClonePerOp`] | the session's contexts are duplicated, used and freed |
//! | [`Habit::FetchPerOp`] | the algorithm is looked up by name and the key set with it |
//! | [`Habit::RekeyPerOp`] | 3DES-CTR: the key is set, and each block of the counter encrypted by a call |
//! | [`Habit::PaddingPerOp`] | padding is turned off before and after the message |

mod contexts;
mod engine;
mod ffi;

pub use engine::{Baseline, Habit};
