//! The modes that write text: whole blocks from the first to the last.

use super::{Chains, Line, Link, Mode, NOTHING, Tail, run_chains};
use crate::aes::{BLOCK, EncryptKey, KeySize, Message, Part};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

macro_rules! written {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Tail for $name {
            const MODE: Mode = Mode::$name;

            #[inline(never)]
            unsafe fn run(machine: Machine, size: KeySize, chains: &mut Chains<Self>) {
                // SAFETY: the caller's contract.
                unsafe { run_chains(machine, size, chains) }
            }

            #[inline(always)]
            fn lacks(self) -> usize {
                0
            }

            #[inline(always)]
            fn added(self) -> *const [u8; BLOCK] {
                &NOTHING
            }

            #[inline(always)]
            unsafe fn pad<V: Vector>(self, _: V::Proof, _: *const u8, _: *mut Line) {}
        }

        impl<'k> From<Message<'k, EncryptKey>> for Link<'k, $name> {
            /// The whole blocks of the message. Its IV is written if the mode keeps the last block.
            #[inline(always)]
            fn from(message: Message<'k, EncryptKey>) -> Self {
                Self {
                    source: message.source,
                    target: message.target,
                    key: message.key,
                    chaining: message.iv.cast_mut().cast(),
                    blocks: message.len as usize / BLOCK,
                    more: &[],
                    tail: $name,
                }
            }
        }

        impl<'k> From<&Part<'k, EncryptKey>> for Link<'k, $name> {
            /// Its whole blocks, as of a message.
            #[inline(always)]
            fn from(part: &Part<'k, EncryptKey>) -> Self {
                Self {
                    more: part.more,
                    ..part.message().into()
                }
            }
        }
    )*};
}

written! {
    /// CBC encryption.
    Cbc
    /// CFB encryption, with segments of a block.
    Cfb
    /// OFB.
    Ofb
}
