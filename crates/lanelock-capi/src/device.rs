//! Devices: the engines of this machine, and what they offer.

use std::ffi::c_char;

use lanelock::Device;
use lanelock::engine::{Capability, Engine};
use lanelock::sizes::Sizes;

use crate::algorithm;
use crate::boundary::{boundary, counted, made};
use crate::error::{Failure, copy_text, lanelock_error};
use crate::handle::{Handle, lend, take};
use crate::sized::{self, Sized32};

/// The engines of this machine in order of preference; the maker of sessions and queues.
#[derive(Debug)]
pub struct lanelock_device {
    pub(crate) device: Device,
}

impl Handle for lanelock_device {
    const NAME: &'static str = "device";
}

/// An engine, which runs operations.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_engine {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Rows that `lanelock_device_capability` has for it.
    pub capabilities: u32,
    /// Its name, by which a transform asks for it.
    pub name: [c_char; 24],
    /// The implementation underneath and its version.
    pub version: [c_char; 96],
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_engine {
    const NAME: &'static str = "lanelock_engine";
    const FIRST: usize = 128;
}

/// Lengths in bytes: `min`, `min` + `step` and so on up to `max`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct lanelock_sizes {
    /// Smallest length.
    pub min: u32,
    /// Largest length.
    pub max: u32,
    /// Distance between two lengths; 0 if this range is not used.
    pub step: u32,
}

/// An algorithm, which is never a chain, as an engine offers it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_capability {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// The algorithm's number.
    pub algorithm: u32,
    /// What else holds: LANELOCK_CAPABILITY bits.
    pub features: u32,
    /// Longest additional data, in bytes; 0 for none.
    pub max_aad: u32,
    /// Lengths of keys.
    pub key: [lanelock_sizes; 4],
    /// Lengths of IVs.
    pub iv: [lanelock_sizes; 4],
    /// Lengths of tags or digests.
    pub tag: [lanelock_sizes; 4],
    /// Payloads are multiples of this many bytes.
    pub block: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_capability {
    const NAME: &'static str = "lanelock_capability";
    const FIRST: usize = 168;
}

const _: () = assert!(size_of::<lanelock_engine>() == 128);
const _: () = assert!(size_of::<lanelock_capability>() == 168);

/// It can be half of a chain.
pub const LANELOCK_CAPABILITY_CHAINS: u32 = 1;
/// A payload in several segments is gathered into one first.
pub const LANELOCK_CAPABILITY_GATHERS_SEGMENTS: u32 = 2;
/// The implementation underneath allocates memory for each operation.
pub const LANELOCK_CAPABILITY_ALLOCATES: u32 = 4;
/// The key is set again for each operation.
pub const LANELOCK_CAPABILITY_REKEYS: u32 = 8;

/// Opens the default device: every engine of this machine. Make one device and use it from all
/// threads. Objects that were made with it stay usable after it is freed. Threads: any.
///
/// # Safety
/// `device` is NULL or valid for writes; `error` is NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_open(
    device: *mut *mut lanelock_device,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(device, error, || {
            let device = lanelock::open()?;
            Ok(lanelock_device { device })
        })
    }
}

/// Frees a device; NULL is allowed. Threads: any, and none may use the handle meanwhile.
///
/// # Safety
/// No thread is inside a function with this handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_free(device: *mut lanelock_device) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take(device) }.map(drop))
}

/// Number of the device's engines, or a negative error. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_engines(device: *const lanelock_device) -> isize {
    // SAFETY: the caller's promise.
    counted(|| Ok(unsafe { lend(device) }?.device.engines().count()))
}

/// Describes the engine at `index`; the first is preferred. Set `engine->size` before the call.
/// Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `engine` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_engine(
    device: *const lanelock_device,
    index: usize,
    engine: *mut lanelock_engine,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let found = engine_at(lend(device)?, index)?;
        let mut value = lanelock_engine {
            size: 0,
            capabilities: u32::try_from(found.capabilities().len()).unwrap_or(u32::MAX),
            name: [0; _],
            version: [0; _],
        };
        copy_text(found.name(), &mut value.name);
        copy_text(&found.version(), &mut value.version);
        sized::write(&value, engine)
    })
}

/// Describes the row at `index` of what the engine at `engine` offers. Set `capability->size`
/// before the call. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `capability` is NULL or valid for reads and writes of the
/// size that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_capability(
    device: *const lanelock_device,
    engine: usize,
    index: usize,
    capability: *mut lanelock_capability,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let engine = engine_at(lend(device)?, engine)?;
        let row = engine.capabilities().get(index);
        let row = row.ok_or_else(|| Failure::unknown(format!("capability {index}: not found")))?;
        sized::write(&described(row)?, capability)
    })
}

/// The engine at `index`.
pub(crate) fn engine_at(device: &lanelock_device, index: usize) -> Result<&dyn Engine, Failure> {
    let engine = device.device.engines().nth(index);
    engine.ok_or_else(|| Failure::unknown(format!("engine {index}: not found")))
}

fn described(row: &Capability) -> Result<lanelock_capability, Failure> {
    let features = [
        (row.features.chains, LANELOCK_CAPABILITY_CHAINS),
        (
            row.features.gathers_segments,
            LANELOCK_CAPABILITY_GATHERS_SEGMENTS,
        ),
        (row.features.allocates, LANELOCK_CAPABILITY_ALLOCATES),
        (row.features.rekeys, LANELOCK_CAPABILITY_REKEYS),
    ];
    let features = features.iter().filter(|(has, _)| *has);
    let numbers = algorithm::to_numbers(row.algorithm);
    let [algorithm, ..] = numbers
        .ok_or_else(|| Failure::unknown("algorithm: this interface has no number for it"))?;
    Ok(lanelock_capability {
        size: 0,
        algorithm,
        features: features.fold(0, |bits, (_, bit)| bits | bit),
        max_aad: small(row.max_aad),
        key: ranges(row.key),
        iv: ranges(row.iv),
        tag: ranges(row.tag),
        block: small(row.algorithm.row().block),
        reserved: 0,
    })
}

fn ranges(sizes: Sizes) -> [lanelock_sizes; 4] {
    let mut ranges = [lanelock_sizes::default(); 4];
    for (place, range) in ranges.iter_mut().zip(sizes.ranges()) {
        *place = lanelock_sizes {
            min: small(range.min),
            max: small(range.max),
            step: small(range.step),
        };
    }
    ranges
}

/// A length or count that 32 bits hold.
pub(crate) fn small(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_can_be_described_in_full() {
        let device = lanelock::open().expect("OpenSSL 3");
        for row in device.engines().flat_map(Engine::capabilities) {
            described(row).expect("a number");
            for sizes in [row.key, row.iv, row.tag] {
                assert!(sizes.ranges().len() <= 4, "{row:?}");
                assert!(sizes.ranges().iter().all(|range| range.step > 0));
            }
        }
    }

    #[test]
    fn names_fit() {
        for engine in lanelock::open().expect("OpenSSL 3").engines() {
            assert!(engine.name().len() < 24 && engine.version().len() < 96);
        }
    }
}
