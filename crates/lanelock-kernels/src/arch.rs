//! Instruction sets. The traits of registers that kernels are written over ([`blocks`], [`words`],
//! [`digits`], of one family: [`register`]), their implementations, and whatever else only one architecture has: nothing outside
//! this folder names one.
//!
//! An architecture is a module that gives: a set of registers of each kind ([`BlockSet`],
//! [`WordSet`], [`DigitSet`]) with the way into code that is compiled for them; [`sha`], what runs
//! by instructions made for a hash; [`prefetch`], which asks for memory; and [`machine`], which asks the
//! CPU.

#![allow(unsafe_code)] // intrinsics, loads and stores through pointers
#![allow(clippy::precedence)] // shifts before xor, as in every description of these algorithms
#![allow(clippy::needless_range_loop)] // an index names the lane or the word on both sides

pub(crate) mod blocks;
pub(crate) mod digits;
mod portable;
pub(crate) mod register;
pub(crate) mod words;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use other::*;

#[cfg(not(target_arch = "x86_64"))]
mod no_digits;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod interleaved;

pub(crate) use portable::{Block, Integers};

/// The same number, of which the compiler knows nothing: not how often a loop runs that it ends, nor what it could
/// count instead.
#[inline(always)]
pub(crate) fn unknown(number: usize) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut number = number;
        // SAFETY: no instructions.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
        };
        number
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    number
}
