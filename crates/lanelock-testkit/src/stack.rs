//! What a call leaves on its stack, for tests that no key is there.

#![allow(unsafe_code)] // reads memory below the stack pointer

use std::arch::asm;
use std::hint::black_box;

use crate::freed::Secrets;

/// Bytes below the caller that are looked at.
const DEPTH: usize = 32 << 10;

/// Runs `run`, and returns the name of a secret that it leaves on the stack, and how many bytes below its caller,
/// if there is one.
///
/// # Panics
/// If a secret would not be found.
pub fn left_on_stack<T>(secrets: &mut Secrets, run: impl FnOnce() -> T) -> Option<(String, usize)> {
    const CANARY: [u8; 16] = *b"Canary in a pit.";
    secrets.add("the canary", &CANARY);
    let mut below = vec![0; DEPTH];
    below_after(&mut below, || leave(CANARY));
    let found = secrets.find(&below);
    let found = found.map(|(secret, _)| secret.as_str());
    assert_eq!(found, Some("the canary"), "the stack is not read");

    below_after(&mut below, run);
    let (secret, at) = secrets.find(&below)?;
    Some((secret.clone(), DEPTH - at))
}

/// Copies what is below this function's frame once `run` has returned; before, there are zeros.
#[inline(never)]
fn below_after<T>(below: &mut [u8], run: impl FnOnce() -> T) {
    clear();
    let value = black_box(run)();
    // SAFETY: `below` is writable. `clear` has been there, so the stack has pages; reading changes nothing.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "lea rsi, [rsp - {depth}]",
            "rep movsb",
            depth = const DEPTH,
            inout("rcx") below.len() => _, inout("rdi") below.as_mut_ptr() => _, out("rsi") _,
            options(nostack)
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "sub {from}, sp, {left}",
            "2:",
            "ldrb {byte:w}, [{from}], #1",
            "strb {byte:w}, [{to}], #1",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            from = out(reg) _, byte = out(reg) _,
            left = inout(reg) below.len() => _, to = inout(reg) below.as_mut_ptr() => _,
            options(nostack)
        );
    }
    drop(value);
}

/// Writes zeros over the stack below the caller.
#[inline(never)]
fn clear() {
    black_box([0_u8; DEPTH]);
}

/// Leaves some bytes there.
#[inline(never)]
fn leave(bytes: [u8; 16]) {
    let mut copy = [0; 16];
    black_box(&mut copy).copy_from_slice(&bytes);
    black_box(&copy);
}
