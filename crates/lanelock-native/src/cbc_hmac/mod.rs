//! Chains of AES-CBC and HMAC. Most messages run as those of any chain; one that would be alone in
//! its lanes runs cipher and MAC interleaved, where the CPU has the SHA extensions.

mod message;

use lanelock_core::engine::{Batch, EngineSession, QueueToken};
use lanelock_core::session::SessionMemory;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::interleave::Instructions;
use lanelock_kernels::aes::interleave::Interleave;

use crate::burst::memory;
use crate::cbc::Cbc;
use crate::chain::{Chain, ChainSession};
use crate::hash::Hmac;
use crate::mac;

/// The session of AES-CBC and HMAC.
pub(crate) struct CbcHmac<C, A: Interleave> {
    chain: Chain<C, Hmac<A>>,
    /// Given where cipher and hash function can be interleaved.
    together: Option<Instructions>,
}

/// The longest message of a burst leaves the others' lanes if it has this many times as many bytes
/// as the next one: it would be alone in them for most of its length.
const LONG: usize = 3;

/// Below this many bytes, one pass gains less than it takes to begin and to end it.
const SHORT: usize = 192;

impl<C: Cbc, A: Interleave> CbcHmac<C, A> {
    pub(crate) fn boxed(machine: Machine, chain: Chain<C, Hmac<A>>) -> Box<dyn EngineSession> {
        let together = Instructions::of(machine).filter(|_| A::INTERLEAVES);
        Box::new(Self { chain, together })
    }

    /// Runs the one message that lanes would not help; whether there was one. It is completed, but
    /// for one to verify before it is decrypted: that has a result if its tag is wrong.
    fn run_interleaved(&self, token: Instructions, batch: &mut Batch<'_, '_>) -> bool {
        let (mut longest, mut next, mut index, mut at) = (0, 0, 0, 0);
        if batch.len() > 1 {
            // In lanes, those that are verified run no slower, with decryption after that.
            if self.chain.verifies_first() {
                return false;
            }
            batch.for_each(|op| {
                let len = op.payload_len();
                if len > longest {
                    (next, longest, at) = (longest, len, index);
                } else {
                    next = next.max(len);
                }
                index += 1;
            });
            if longest < LONG * next {
                return false;
            }
        }
        let op = batch.get(at);
        if op.payload_len() < SHORT {
            return false;
        }
        let Some(Self { chain, .. }) = op.session() else {
            return false;
        };
        let (key, mac_key) = (chain.cipher.key(), chain.mac.key());
        message::run(token, key, mac_key, chain.order, op)
    }
}

impl<C: Cbc, A: Interleave> ChainSession for CbcHmac<C, A> {
    type Cipher = C;
    type Mac = Hmac<A>;

    #[inline]
    fn chain(&self) -> &Chain<C, Hmac<A>> {
        &self.chain
    }
}

impl<C: Cbc, A: Interleave> EngineSession for CbcHmac<C, A> {
    fn group(&self) -> u16 {
        self.chain.group()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let chain = &self.chain;
        let at_a_time = mac::at_a_time::<Hmac<A>>(batch);
        batch.for_each_stretch(at_a_time, |batch| match self.together {
            Some(token) if self.run_interleaved(token, batch) => {
                if chain.verifies_first() {
                    chain.cipher_pending::<Self>(batch);
                } else if batch.len() > 1 {
                    batch.pending(|batch| chain.run::<Self>(batch));
                }
            }
            _ => chain.run::<Self>(batch),
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

#[cfg(test)]
mod tests;
