//! A cipher and a MAC over independent ranges of one message: each step runs for every message of
//! the burst before the next step begins. A message that would be alone in its lanes runs both
//! steps interleaved instead.

use lanelock_core::Status;
use lanelock_core::algorithm::Order;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, QueueToken};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::interleave::Instructions;
use lanelock_kernels::taint::declassify;

use crate::burst::{
    BURST, Cipher, Payload, Tagger, run_payloads, run_plain_tags, run_tags, settle,
};
use crate::group::Group;
use crate::session::memory;

/// Both halves, keyed for one direction.
pub(crate) struct Chain<C, T> {
    cipher: C,
    mac: T,
    order: Order,
    direction: Direction,
    group: Group,
    /// Given where cipher and MAC can be interleaved.
    together: Option<Instructions>,
}

/// The longest message of a burst leaves the others' lanes if it has this many times as many bytes
/// as the next one: it would be alone in them for most of its length.
const LONG: usize = 3;

/// Below this many bytes, one pass gains less than it takes to begin and to end it.
const SHORT: usize = 192;

impl<C: Cipher, T: Tagger> Chain<C, T> {
    /// `group` is that of both halves.
    pub(crate) fn boxed(
        machine: Machine,
        group: Group,
        order: Order,
        direction: Direction,
        cipher: C,
        mac: T,
    ) -> Box<dyn EngineSession> {
        let interleaves = T::INTERLEAVES && cipher.cbc().is_some();
        Box::new(Self {
            together: Instructions::of(machine).filter(|_| interleaves),
            cipher,
            mac,
            order,
            direction,
            group: group.one_way(direction),
        })
    }

    fn encrypt_then_mac(batch: &mut Batch<'_, '_>) {
        run_payloads(batch, Payload::FromInput, Self::cipher);
        if run_plain_tags(batch, Ciphertext::InOutput, Self::mac) {
            batch.complete(Status::Success);
        } else {
            run_tags(batch, Ciphertext::InOutput, Self::mac, settle);
        }
    }

    /// Nothing is decrypted unless its tag matches.
    fn verify_then_decrypt(batch: &mut Batch<'_, '_>) {
        run_tags(batch, Ciphertext::InInput, Self::mac, |mut op, tag| {
            if !tag.is_some_and(|tag| declassify(op.tag_matches(tag))) {
                op.complete(Status::AuthFailed);
            }
        });
        Self::decrypt_pending(batch);
    }

    fn decrypt_pending(batch: &mut Batch<'_, '_>) {
        run_payloads(batch, Payload::OfPending, Self::cipher);
        batch.for_each(|mut op| {
            if op.is_pending() {
                op.complete(Status::Success);
            }
        });
    }

    /// A tag that lies inside the payload is encrypted with it.
    fn mac_then_encrypt(batch: &mut Batch<'_, '_>) {
        run_tags(batch, Ciphertext::InInput, Self::mac, |mut op, tag| {
            if op.tag_in_payload() {
                // The input may be read-only.
                op.copy_payload_to_output();
            }
            op.write_tag(tag.expect("a tag that is computed is there"));
        });
        run_payloads(batch, Payload::WithTag, Self::cipher);
        batch.complete(Status::Success);
    }

    /// Plaintext is written before the tag is compared, and wiped unless it matches.
    fn decrypt_then_verify(batch: &mut Batch<'_, '_>) {
        run_payloads(batch, Payload::FromInput, Self::cipher);
        run_tags(batch, Ciphertext::InOutput, Self::mac, settle);
    }

    /// Runs the one message that lanes would not help by [`Tagger::run_with_cbc`]; `false` if there
    /// is none.
    fn interleave(&self, batch: &mut Batch<'_, '_>) -> bool {
        let (mut longest, mut next, mut index, mut at) = (0, 0, 0, 0);
        if batch.len() > 1 {
            // In lanes, those that are verified run no slower when they are decrypted behind that.
            if self.verifies_first() {
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
        let Some(session) = op.session::<Self>() else {
            return false;
        };
        let (Some(token), Some(key)) = (session.together, session.cipher.cbc()) else {
            return false;
        };
        session.mac.run_with_cbc(token, key, session.order, op)
    }

    /// Decryption has nothing to wait for: one pass would gain little, and give up that nothing is
    /// decrypted unless its tag matches.
    fn verifies_first(&self) -> bool {
        (self.order, self.direction) == (Order::EncryptThenMac, Direction::Reverse)
    }

    #[inline]
    fn cipher(&self) -> &C {
        &self.cipher
    }

    #[inline]
    fn mac(&self) -> &T {
        &self.mac
    }
}

impl<C: Cipher, T: Tagger> EngineSession for Chain<C, T> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let run = match (self.order, self.direction) {
            (Order::EncryptThenMac, Direction::Forward) => Self::encrypt_then_mac,
            (Order::EncryptThenMac, Direction::Reverse) => Self::verify_then_decrypt,
            (Order::MacThenEncrypt, Direction::Forward) => Self::mac_then_encrypt,
            (Order::MacThenEncrypt, Direction::Reverse) => Self::decrypt_then_verify,
        };
        batch.for_each_stretch(BURST, |batch| {
            if self.together.is_none() || !self.interleave(batch) {
                run(batch);
            } else if self.verifies_first() {
                Self::decrypt_pending(batch);
            } else if batch.len() > 1 {
                batch.pending(run);
            }
        });
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
