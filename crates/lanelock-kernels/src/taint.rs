//! Marks on memory for the secret-taint check: under Valgrind's memcheck a secret counts as
//! undefined, so a branch or an address that depends on it is an error with a stack trace.
//!
//! The marks are Valgrind's client requests (its manual, section 3.1; numbers in `valgrind.h` and
//! `memcheck.h`): instructions without effect on a CPU, a call under Valgrind. Nothing here is
//! part of a kernel but [`declassify`], [`is_none`] and [`publish`], which mark nothing unless built
//! with `--cfg lanelock_taint`.

#![allow(unsafe_code)] // requests are sequences of instructions

/// Whether memcheck is watching this process.
#[must_use]
pub fn is_watched() -> bool {
    request(0x1001, [0; 5]) != 0
}

/// Marks bytes as secret. Their values stay.
pub fn mark_secret(bytes: &mut [u8]) {
    request(
        MEMCHECK + 1,
        [bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0],
    );
}

/// Takes the mark off again.
pub fn mark_public(bytes: &mut [u8]) {
    request(
        MEMCHECK + 2,
        [bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0],
    );
}

/// How many of the bytes are secret, or computed from secrets; zero without Valgrind.
#[must_use]
pub fn count_secret(bytes: &[u8]) -> usize {
    let is_secret = |byte: &u8| {
        let mut bits = 0_u8;
        let shadow = &raw mut bits;
        request(
            MEMCHECK + 8,
            [core::ptr::from_ref(byte) as usize, shadow as usize, 1, 0, 0],
        );
        // SAFETY: a local; Valgrind wrote to it behind the compiler's back.
        unsafe { shadow.read_volatile() != 0 }
    };
    bytes.iter().filter(|byte| is_secret(byte)).count()
}

/// Errors that Valgrind has found so far, repeated ones included.
#[must_use]
pub fn findings() -> usize {
    request(0x1201, [0; 5])
}

/// A verdict that was computed from secrets and is made public: whether a tag is the right one.
/// Every place where that happens calls this.
#[inline(always)]
#[must_use]
pub fn declassify(verdict: bool) -> bool {
    #[cfg(lanelock_taint)]
    {
        let mut byte = [u8::from(verdict)];
        mark_public(&mut byte);
        // SAFETY: a local; the read keeps the compiler from using the value it had before.
        let read = unsafe { byte.as_ptr().read_volatile() };
        read != 0
    }
    #[cfg(not(lanelock_taint))]
    verdict
}

/// The verdict that tags are right: nothing is left of their difference. It is made at once of all bits, which
/// the compiler knows nothing of, and in a register: by way of memory, as [`core::hint::black_box`] goes, it would
/// wait for what was stored.
#[inline(always)]
#[must_use]
pub fn is_none(difference: u128) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "its halves")]
    let (low, high) = (difference as u64, (difference >> 64) as u64);
    let bits = low | high;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let bits = {
        let mut bits = bits;
        // SAFETY: no instruction is emitted; the register keeps its value.
        unsafe {
            core::arch::asm!(
                "/* {0} */",
                inout(reg) bits,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        bits
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let bits = core::hint::black_box(bits);
    declassify(bits == 0)
}

/// Bytes that were computed from secrets and are part of what is sent: a synthetic IV.
#[inline(always)]
#[must_use]
pub fn publish<const N: usize>(bytes: [u8; N]) -> [u8; N] {
    #[cfg(lanelock_taint)]
    let bytes = {
        let mut bytes = bytes;
        mark_public(&mut bytes);
        bytes
    };
    bytes
}

/// Memcheck's first request.
const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;

/// Makes a request; zero if nobody listens.
#[inline(always)]
fn request(number: usize, [a, b, c, d, e]: [usize; 5]) -> usize {
    let message = [number, a, b, c, d, e];
    #[cfg(target_arch = "x86_64")]
    {
        let mut answer = 0_usize;
        // SAFETY: 128 bits of rotation and an exchange of a register with itself change nothing
        // but flags. Valgrind reads the message, acts on memory that the caller borrowed, and
        // writes the answer.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") message.as_ptr(),
                inout("rdx") answer,
                options(nostack),
            );
        }
        answer
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _no_encoding_here = message;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_valgrind_nothing_happens() {
        let mut bytes = [1, 2, 3];
        mark_secret(&mut bytes);
        mark_public(&mut bytes);
        assert_eq!((bytes, findings()), ([1, 2, 3], 0));
        assert!(!is_watched() && count_secret(&bytes) == 0);
        assert!(declassify(true) && !declassify(false));
        assert!(is_none(0) && (0..128).all(|bit| !is_none(1 << bit)));
    }
}
