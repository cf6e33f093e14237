//! No key is left in freed memory: of every algorithm, on every tier of this machine and on the
//! OpenSSL engine, each block that is freed while sessions are made, used and dropped is looked at.
//!
//! What a session leaves in its padding depends on how it was compiled. `make test` runs this as
//! tests are built, `make freed` with the profile of a release.

#![allow(clippy::unwrap_used, reason = "a test")]

mod public_key;
mod symmetric;

use lanelock_core::Device;
use lanelock_core::engine::Engine;
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;
use lanelock_testkit::freed::Reader;

#[global_allocator]
static ALLOCATOR: Reader = Reader;

/// A device for each engine that runs here, with a name.
fn devices() -> Vec<(String, Device)> {
    let of = |tier| {
        let native = Native::with_tier(tier).unwrap();
        (
            format!("native {tier:?}"),
            Device::builder().engine(native).build(),
        )
    };
    let mut all: Vec<_> = Tier::available().map(of).collect();
    assert!(!all.is_empty(), "no tier of the native engine runs here");
    all.push(("openssl".to_owned(), openssl()));
    all
}

fn openssl() -> Device {
    Device::builder().engine(OpenSsl::new().unwrap()).build()
}

fn engine(device: &Device) -> &dyn Engine {
    device.engines().next().unwrap()
}

/// Repeatable bytes that look random.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed as u64);
    (0..len).map(|_| random.u8(..)).collect()
}
