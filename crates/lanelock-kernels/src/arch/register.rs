//! What registers of every kind have in common: a value is the proof of its instructions.

use core::ptr::NonNull;

/// The proof that instructions exist: a value of no size, which only asking the CPU makes.
pub trait Proof: Copy + core::fmt::Debug {
    /// Runs `code` compiled for these instructions, as one call.
    fn enter<C: Code>(self, code: C) -> C::Output;

    /// The same from code that was entered.
    #[inline(always)]
    fn call<C: Code>(self, code: C) -> C::Output {
        self.enter(code)
    }
}

/// The proof, of what the caller knows.
///
/// # Safety
/// The CPU has these instructions.
#[inline(always)]
pub(crate) unsafe fn assume<P: Proof>() -> P {
    const { assert!(size_of::<P>() == 0) };
    // SAFETY: a value of no size, of which there is one, says the caller.
    unsafe { NonNull::<P>::dangling().read() }
}

/// A function and its arguments, to be compiled for the instructions of a [`Proof`]. A closure will
/// not do: it is compiled without the instructions before it is inlined, if it is at all.
///
/// rustc compiles the units of a crate side by side, and puts the methods of a type into the unit of
/// that type's module; those of a tuple, into the unit of its first field that has one. So kernels
/// are entered by methods of tuples: by functions of their tokens, all would be one unit, which
/// takes twice as long on two cores. For the same reason, what wraps a kernel is a tuple that
/// begins with it.
pub trait Code {
    /// What it returns.
    type Output;

    /// Whether registers may be spilled that would lie across two lines of the cache, were the function's frame not on one.
    const SPILLS_LINES: bool = true;

    /// The function; always inlined.
    fn run(self) -> Self::Output;
}

/// A register.
///
/// A value exists only where its instructions do: constructors take the proof, and a value gives it
/// back. So operations on values are safe; what is unsafe states the pointers it reads or writes.
/// Proofs have no size, and a register that holds one is no larger than without. Everything is
/// inlined into functions that enable the instructions: [`Proof::enter`] is the way into one.
pub trait Register: Copy {
    /// The proof that the instructions of this register exist.
    type Proof: Proof;

    /// The proof that this value is.
    fn proof(self) -> Self::Proof;
}
