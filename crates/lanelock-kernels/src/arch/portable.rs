//! Plain integers: any CPU. What the tests compare with, and what runs where nothing is known of the
//! CPU.

mod blocks;
mod digits;
mod words;

pub(crate) use blocks::Block;
pub(crate) use digits::Portable;
use words::Quad;

use super::register::{Code, Proof};
use super::words::{Moves, Registers};

/// Plain integers need no proof.
impl Proof for () {
    #[inline(always)]
    fn enter<C: Code>(self, code: C) -> C::Output {
        trait Compiled<C: Code> {
            fn compiled(code: C) -> C::Output;
        }
        // Of a tuple, so that it is compiled where the kernel is: see [`Code`].
        impl<C: Code> Compiled<C> for (C,) {
            #[inline(never)]
            fn compiled(code: C) -> C::Output {
                code.run()
            }
        }
        <(C,)>::compiled(code)
    }
}

/// Words in plain integers.
#[derive(Clone, Copy, Debug)]
pub struct Integers;

impl Registers for Integers {
    const NAME: &'static str = "portable";
    const BITS: usize = 64;
    const FILE: usize = 16;
    type Proof = ();
    type Single = u64;
    type SingleProof = ();
    type U32 = u32;
    type U64 = u64;
    type Rows = Quad;
    type Moves = Moves;

    #[inline(always)]
    unsafe fn assume() {}

    #[inline(always)]
    fn single((): ()) {}

    #[inline(always)]
    fn moves((): ()) -> Moves {
        Moves
    }
}
