//! A cipher and a MAC over independent ranges of one message: each step runs for every message of
//! the burst before the next step begins.

use lanelock_core::Status;
use lanelock_core::algorithm::Order;
use lanelock_core::engine::{Batch, Ciphertext, EngineSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_kernels::taint::declassify;

use crate::burst::{BURST, memory};
use crate::cipher::{Cipher, iv_of, run_payloads};
use crate::group::Group;
use crate::mac::{self, Mac, Tags};
use crate::tags::{all_match, settle, verify_each};

/// Both halves, keyed for one direction.
pub(crate) struct Chain<C, M> {
    pub(crate) cipher: C,
    pub(crate) mac: M,
    pub(crate) order: Order,
    pub(crate) direction: Direction,
    group: Group,
}

/// A session that runs a chain.
pub(crate) trait ChainSession: EngineSession + Sized {
    type Cipher: Cipher;
    type Mac: Mac;

    fn chain(&self) -> &Chain<Self::Cipher, Self::Mac>;
}

impl<C: Cipher, M: Mac> Chain<C, M> {
    /// `group` is that of both halves.
    pub(crate) fn new(group: Group, order: Order, direction: Direction, cipher: C, mac: M) -> Self {
        Self {
            cipher,
            mac,
            order,
            direction,
            group: group.one_way(direction),
        }
    }

    pub(crate) fn group(&self) -> u16 {
        self.group.number()
    }

    /// Runs and completes operations of sessions of type `S`, at most [`mac::at_a_time`]. Each
    /// way is on its own, so that none reserves the stack of another.
    #[inline]
    pub(crate) fn run<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        match (self.order, self.direction) {
            (Order::EncryptThenMac, Direction::Forward) => self.encrypt_then_mac::<S>(batch),
            (Order::EncryptThenMac, Direction::Reverse) => self.verify_then_decrypt::<S>(batch),
            (Order::MacThenEncrypt, Direction::Forward) => self.mac_then_encrypt::<S>(batch),
            (Order::MacThenEncrypt, Direction::Reverse) => self.decrypt_then_verify::<S>(batch),
        }
    }

    /// Decryption has nothing to wait for, and nothing is decrypted unless its tag matches.
    #[inline]
    pub(crate) fn verifies_first(&self) -> bool {
        (self.order, self.direction) == (Order::EncryptThenMac, Direction::Reverse)
    }

    #[inline(never)]
    fn encrypt_then_mac<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        let from = Ciphertext::InOutput;
        self.run_cipher::<S>(batch);
        match batch.plain() {
            Some(mut plain) => {
                mac::run_plain(&self.mac, plain.tags(from), mac_of::<S>);
                batch.complete(Status::Success);
            }
            None => {
                let mut tags = Tags::new();
                mac::run_beside(&self.mac, batch, from, mac_of::<S>, &mut tags);
                tags.for_each(batch, settle);
            }
        }
    }

    #[inline(never)]
    fn verify_then_decrypt<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        let mut tags = Tags::new();
        let from = Ciphertext::InInput;
        mac::run_beside(&self.mac, batch, from, mac_of::<S>, &mut tags);
        if !all_match(batch, |number| Some(tags.of(number))) {
            tags.for_each(batch, |mut op, tag| {
                if !declassify(op.tag_matches(tag)) {
                    op.complete(Status::AuthFailed);
                }
            });
        }
        self.cipher_pending::<S>(batch);
    }

    /// Encrypts or decrypts, and completes, what has no result so far.
    pub(crate) fn cipher_pending<S: ChainSession<Cipher = C, Mac = M>>(
        &self,
        batch: &mut Batch<'_, '_>,
    ) {
        batch.pending(|batch| {
            self.run_cipher::<S>(batch);
            batch.complete(Status::Success);
        });
    }

    /// Encrypts or decrypts, [`BURST`] operations at a time.
    #[inline]
    fn run_cipher<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            run_payloads(&self.cipher, batch, cipher_of::<S>);
        });
    }

    #[inline(never)]
    fn mac_then_encrypt<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        let from = Ciphertext::InInput;
        match batch.plain() {
            Some(mut plain) => {
                mac::run_plain(&self.mac, plain.tags(from), mac_of::<S>);
                self.run_cipher::<S>(batch);
                batch.complete(Status::Success);
            }
            None => {
                let mut tags = Tags::new();
                mac::run_beside(&self.mac, batch, from, mac_of::<S>, &mut tags);
                tags.for_each(batch, |mut op, tag| {
                    if op.tag_in_payload() {
                        encrypt_with_tag::<S>(op, tag);
                    } else {
                        op.write_tag(tag);
                    }
                });
                self.cipher_pending::<S>(batch);
            }
        }
    }

    /// Plaintext is written before the tag is compared, and wiped unless it matches.
    #[inline(never)]
    fn decrypt_then_verify<S: ChainSession<Cipher = C, Mac = M>>(&self, batch: &mut Batch<'_, '_>) {
        self.run_cipher::<S>(batch);
        let mut tags = Tags::new();
        let from = Ciphertext::InOutput;
        mac::run_beside(&self.mac, batch, from, mac_of::<S>, &mut tags);
        verify_each(batch, |number| Some(tags.of(number)));
    }
}

/// Completes an operation whose tag lies inside the payload and is encrypted with it.
#[inline(never)]
fn encrypt_with_tag<S: ChainSession>(mut op: ValidOp<'_, '_>, tag: &[u8]) {
    let session = op
        .session::<S>()
        .expect("the sessions of a group are of one type");
    // The input may be read-only.
    op.copy_payload_to_output();
    op.write_tag(tag);
    let iv = iv_of(&op);
    session.chain().cipher.run_pieces(&iv, op.output_payload());
    op.complete(Status::Success);
}

#[inline]
fn cipher_of<S: ChainSession>(session: &S) -> &S::Cipher {
    &session.chain().cipher
}

#[inline]
fn mac_of<S: ChainSession>(session: &S) -> &S::Mac {
    &session.chain().mac
}

impl<C: Cipher, M: Mac> ChainSession for Chain<C, M> {
    type Cipher = C;
    type Mac = M;

    #[inline]
    fn chain(&self) -> &Self {
        self
    }
}

impl<C: Cipher, M: Mac> EngineSession for Chain<C, M> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let at_a_time = mac::at_a_time::<M>(batch);
        batch.for_each_stretch(at_a_time, |batch| self.run::<Self>(batch));
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
