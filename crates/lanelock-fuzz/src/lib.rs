//! What the fuzz targets check: for each a function that turns arbitrary bytes into a case and
//! panics if a property does not hold.
//!
//! libFuzzer calls them through `fuzz/`; the test of this crate calls them with the committed seeds
//! in `fuzz/seeds`, so that a target that has stopped working is noticed without a fuzzer.

#![deny(unsafe_code)] // `nconf` alone calls libcrypto

mod containers;
pub mod kernels;
pub mod keys;
mod nconf;
pub mod openssl_config;
pub mod programs;
pub mod telemetry_page;
pub mod vectors;

/// A target's name, and what it does with a case.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("cursor", lanelock_testkit::check_cursor),
    ("kernels", kernels::run),
    ("keys", keys::run),
    ("op_validation", |data| {
        let _verdict_of_the_model = lanelock_testkit::check_operation(data);
    }),
    ("openssl_config", openssl_config::run),
    ("programs", programs::run),
    ("segment_lists", lanelock_testkit::check_segments),
    ("telemetry_page", telemetry_page::run),
    ("vectors", vectors::run),
];
