//! Where registers are spilled to.

#![allow(unsafe_code)] // an empty piece of assembly

use core::mem::MaybeUninit;

/// A cache line.
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// Puts the stack frame of the function that this is inlined into on a cache line.
///
/// The compiler does so only for locals that demand it. Registers of 64 bytes are otherwise spilled
/// to wherever the callers' frames happen to end, most often across two lines, each of which then
/// has to be written and read.
#[inline(always)]
pub(super) fn align() {
    let mut line = MaybeUninit::<Line>::uninit();
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "nothing is read or written"
    )]
    // SAFETY: no instruction; what it is given is only an address.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            in(reg) line.as_mut_ptr(),
            options(nomem, nostack, preserves_flags)
        );
    }
}
