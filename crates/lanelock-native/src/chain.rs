//! A cipher and a MAC over independent ranges of one message: each step runs for every message of
//! the burst before the next step begins.

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::Order;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;

use crate::burst::{BURST, Cipher, Payload, Tagger, run_payloads, run_tags, settle, stretches};
use crate::group::Group;
use crate::session::{memory, of};

/// Both halves, keyed for one direction.
pub(crate) struct Chain<C, T> {
    cipher: C,
    mac: T,
    order: Order,
    direction: Direction,
    group: Group,
}

impl<C: Cipher, T: Tagger> Chain<C, T> {
    /// `group` is that of both halves.
    pub(crate) fn boxed(
        group: Group,
        order: Order,
        direction: Direction,
        cipher: C,
        mac: T,
    ) -> Box<dyn EngineSession> {
        Box::new(Self {
            cipher,
            mac,
            order,
            direction,
            group: group.one_way(direction),
        })
    }

    fn encrypt_then_mac(batch: &mut Batch<'_, '_>, stretch: impl Iterator<Item = usize> + Clone) {
        run_payloads(batch, stretch.clone(), Payload::FromInput, Self::cipher);
        run_tags(
            batch,
            stretch,
            Ciphertext::InOutput,
            Self::mac,
            |_, op, tag| settle(op, tag),
        );
    }

    /// Nothing is decrypted unless its tag matches.
    fn verify_then_decrypt(
        batch: &mut Batch<'_, '_>,
        stretch: impl Iterator<Item = usize> + Clone,
    ) {
        let mut authentic = ArrayVec::<usize, BURST>::new();
        run_tags(
            batch,
            stretch,
            Ciphertext::InInput,
            Self::mac,
            |index, mut op, tag| {
                if tag.is_some_and(|tag| op.tag_matches(tag)) {
                    authentic.push(index);
                } else {
                    op.complete(Status::AuthFailed);
                }
            },
        );
        let authentic = authentic.iter().copied();
        run_payloads(batch, authentic.clone(), Payload::FromInput, Self::cipher);
        succeed(batch, authentic);
    }

    /// A tag that lies inside the payload is encrypted with it.
    fn mac_then_encrypt(batch: &mut Batch<'_, '_>, stretch: impl Iterator<Item = usize> + Clone) {
        run_tags(
            batch,
            stretch.clone(),
            Ciphertext::InInput,
            Self::mac,
            |_, mut op, tag| {
                if op.tag_in_payload() {
                    // The input may be read-only.
                    op.copy_payload_to_output();
                }
                if let Some(tag) = tag {
                    op.write_tag(tag);
                }
            },
        );
        run_payloads(batch, stretch.clone(), Payload::WithTag, Self::cipher);
        succeed(batch, stretch);
    }

    /// Plaintext is written before the tag is compared, and wiped unless it matches.
    fn decrypt_then_verify(
        batch: &mut Batch<'_, '_>,
        stretch: impl Iterator<Item = usize> + Clone,
    ) {
        Self::encrypt_then_mac(batch, stretch);
    }

    #[inline]
    fn cipher<'a>(op: &ValidOp<'_, 'a>) -> &'a C {
        &of::<Self>(op).cipher
    }

    #[inline]
    fn mac<'a>(op: &ValidOp<'_, 'a>) -> &'a T {
        &of::<Self>(op).mac
    }
}

impl<C: Cipher, T: Tagger> EngineSession for Chain<C, T> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        for stretch in stretches(batch.len()) {
            match (self.order, self.direction) {
                (Order::EncryptThenMac, Direction::Forward) => {
                    Self::encrypt_then_mac(batch, stretch);
                }
                (Order::EncryptThenMac, Direction::Reverse) => {
                    Self::verify_then_decrypt(batch, stretch);
                }
                (Order::MacThenEncrypt, Direction::Forward) => {
                    Self::mac_then_encrypt(batch, stretch);
                }
                (Order::MacThenEncrypt, Direction::Reverse) => {
                    Self::decrypt_then_verify(batch, stretch);
                }
            }
        }
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}

fn succeed(batch: &mut Batch<'_, '_>, indices: impl Iterator<Item = usize>) {
    for index in indices {
        batch.get(index).complete(Status::Success);
    }
}
