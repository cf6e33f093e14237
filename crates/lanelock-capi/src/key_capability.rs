//! What engines offer for public keys.

use std::ffi::c_char;

use lanelock::engine::public_key::{KeyCapability, PublicKeyEngine};

use crate::boundary::boundary;
use crate::device::{engine_at, lanelock_device, small};
use crate::error::{Failure, copy_text};
use crate::handle::lend;
use crate::key::{bits, number_of};
use crate::key_session::{operation_number, scheme_number};
use crate::sized::{self, Sized32};

/// A kind of key and an operation, as an engine offers them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_capability {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// LANELOCK_SIGN to LANELOCK_DECAPSULATE.
    pub operation: u32,
    /// A LANELOCK_KEY number.
    pub kind: u32,
    /// Bits of an RSA modulus, or of a Diffie-Hellman or DSA prime; 0 for other kinds.
    pub bits: u32,
    /// A usual LANELOCK_SCHEME number; 0 where the kind of key leaves no choice.
    pub scheme: u32,
    /// Operations that run in lockstep; 1 if they run one at a time.
    pub lanes: u32,
    /// Name of the algorithm, such as "rsa-2048-pss-sign".
    pub name: [c_char; 40],
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_key_capability {
    const NAME: &'static str = "lanelock_key_capability";
    const FIRST: usize = 64;
}

const _: () = assert!(size_of::<lanelock_key_capability>() == 64);

/// Describes the row at `index` of what the engine at `engine` offers for public keys: LANELOCK_OK, or
/// LANELOCK_ERROR_UNKNOWN past the last row. Set `capability->size` before the call. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `capability` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_device_key_capability(
    device: *const lanelock_device,
    engine: usize,
    index: usize,
    capability: *mut lanelock_key_capability,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let engine = engine_at(lend(device)?, engine)?;
        let rows = engine.public_key().map(|half| half.capabilities());
        let row = rows.as_ref().and_then(|rows| rows.get(index));
        let row = row.ok_or_else(|| Failure::unknown(format!("capability {index}: not found")))?;
        sized::write(&described(row)?, capability)
    })
}

fn described(row: &KeyCapability) -> Result<lanelock_key_capability, Failure> {
    let spec = row.spec;
    let (Some(kind), Some(scheme)) = (number_of(spec.kind), scheme_number(spec.scheme)) else {
        let text = format!("{spec}: this interface has no number for it");
        return Err(Failure::unknown(text));
    };
    let mut value = lanelock_key_capability {
        size: 0,
        operation: operation_number(spec.operation),
        kind,
        bits: bits(spec.kind),
        scheme,
        lanes: small(row.lanes),
        name: [0; _],
    };
    copy_text(&spec.to_string(), &mut value.name);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_can_be_described_in_full() {
        let device = lanelock::open().expect("OpenSSL 3");
        let halves = device.engines().filter_map(|engine| engine.public_key());
        let rows: Vec<_> = halves.flat_map(|half| half.capabilities()).collect();
        assert!(rows.len() > 20);
        for row in rows {
            described(&row).expect("numbers");
            assert!(row.spec.to_string().len() < 40, "{}", row.spec);
        }
    }
}
