//! Modes whose blocks do not wait for each other: one pass over a message, eight registers at a
//! time. Short messages overlap because the CPU starts the next before the last has finished.

use super::vector::Vector;

/// What a mode does to consecutive registers of a message.
pub(crate) trait Transform<V: Vector> {
    /// # Safety
    /// Runs under [`Vector::enter`].
    unsafe fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G];
}

/// Applies `transform` to a message. What lies beyond `len` in the last register is zero before
/// and dropped after.
///
/// # Safety
/// Runs under [`Vector::enter`]; `source` is valid for reads and `target` for writes of `len`
/// bytes, and they are identical or disjoint.
#[inline(always)]
pub(crate) unsafe fn sweep<V: Vector, T: Transform<V>>(
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    let mut done = 0;
    // SAFETY: each access lies below `len`.
    unsafe {
        while len - done >= 8 * V::BYTES {
            let mut data = [V::zero(); 8];
            for (i, register) in data.iter_mut().enumerate() {
                *register = V::load(source.add(done + V::BYTES * i));
            }
            for (i, register) in transform.apply(data).into_iter().enumerate() {
                register.store(target.add(done + V::BYTES * i));
            }
            done += 8 * V::BYTES;
        }
        let (source, target, rest) = (source.add(done), target.add(done), len - done);
        match rest.div_ceil(V::BYTES) {
            0 => {}
            1 => last::<V, T, 1>(transform, source, target, rest),
            2 => last::<V, T, 2>(transform, source, target, rest),
            3 | 4 => last::<V, T, 4>(transform, source, target, rest),
            _ => last::<V, T, 8>(transform, source, target, rest),
        }
    }
}

/// The last registers, all in one go, some of them partial or empty.
///
/// # Safety
/// As for [`sweep`]; `len` is at most `G` registers.
#[inline(always)]
unsafe fn last<V: Vector, T: Transform<V>, const G: usize>(
    transform: &mut T,
    source: *const u8,
    target: *mut u8,
    len: usize,
) {
    // SAFETY: `within` cuts each access off at `len`.
    unsafe {
        let mut data = [V::zero(); G];
        for (i, register) in data.iter_mut().enumerate() {
            let within = len.saturating_sub(V::BYTES * i).min(V::BYTES);
            *register = if within == V::BYTES {
                V::load(source.add(V::BYTES * i))
            } else {
                V::load_bytes(source.wrapping_add(V::BYTES * i), within)
            };
        }
        for (i, register) in transform.apply(data).into_iter().enumerate() {
            let within = len.saturating_sub(V::BYTES * i).min(V::BYTES);
            if within == V::BYTES {
                register.store(target.add(V::BYTES * i));
            } else if within > 0 {
                register.store_bytes(target.add(V::BYTES * i), within);
            }
        }
    }
}
