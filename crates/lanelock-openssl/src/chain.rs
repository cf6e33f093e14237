//! A cipher and a MAC over independent ranges of one message.

use std::sync::Arc;

use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::engine::{Ciphertext, ValidOp, Wiped};
use lanelock_core::transform::Direction;
use lanelock_core::{Cipher, Mac, Transform};

use crate::catalogue::Catalogue;
use crate::cipher::CipherHalf;
use crate::context::{Context, Failure, Maker};
use crate::ffi::Failed;
use crate::mac::MacHalf;
use crate::{cipher, mac};

/// Both halves, keyed for one direction.
pub(crate) struct ChainContext {
    cipher: CipherHalf,
    mac: MacHalf,
    order: Order,
    direction: Direction,
    iv: [u8; MAX_IV_LEN],
}

/// Makes contexts for a session of `cipher` and `mac`.
pub(crate) fn maker(
    catalogue: &Arc<Catalogue>,
    order: Order,
    cipher: Cipher,
    mac: Mac,
    transform: &Transform,
) -> Maker {
    let cipher = cipher::half(catalogue, cipher, transform);
    let mac = mac::half(catalogue, mac, transform.mac_key(), transform);
    let direction = transform.direction();
    Box::new(move || {
        let (cipher, mac, iv) = (cipher()?, mac()?, [0; MAX_IV_LEN]);
        Ok(Context::Chain(Box::new(Wiped::new(ChainContext {
            cipher,
            mac,
            order,
            direction,
            iv,
        }))))
    })
}

impl ChainContext {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        match (self.order, self.direction) {
            (Order::EncryptThenMac, Direction::Forward) => Ok(self.encrypt_then_mac(op)?),
            (Order::EncryptThenMac, Direction::Reverse) => self.verify_then_decrypt(op),
            (Order::MacThenEncrypt, Direction::Forward) => Ok(self.mac_then_encrypt(op)?),
            (Order::MacThenEncrypt, Direction::Reverse) => self.decrypt_then_verify(op),
        }
    }

    fn encrypt_then_mac(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
        let mut tag = [0; MAX_TAG_LEN];
        self.cipher.start(op.iv(&mut self.iv))?;
        self.cipher.run(op.payload())?;
        self.mac.tag(op, Ciphertext::InOutput, &mut tag)?;
        op.write_tag(&tag);
        Ok(())
    }

    fn verify_then_decrypt(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let mut tag = [0; MAX_TAG_LEN];
        self.mac.tag(op, Ciphertext::InInput, &mut tag)?;
        if !op.tag_matches(&tag) {
            return Err(Failure::Auth);
        }
        self.cipher.start(op.iv(&mut self.iv))?;
        Ok(self.cipher.run(op.payload())?)
    }

    fn mac_then_encrypt(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
        let mut tag = [0; MAX_TAG_LEN];
        self.mac.tag(op, Ciphertext::InInput, &mut tag)?;
        self.cipher.start(op.iv(&mut self.iv))?;
        if !op.tag_in_payload() {
            op.write_tag(&tag);
            return self.cipher.run(op.payload());
        }
        // The tag is a part of what is encrypted, and the input may be read-only.
        op.copy_payload_to_output();
        op.write_tag(&tag);
        self.cipher.run(op.output_payload())
    }

    /// Plaintext is written before the tag is compared, and wiped unless it matches.
    fn decrypt_then_verify(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let result = self.decrypt_and_compare(op);
        if result.is_err() {
            op.wipe_output();
        }
        result
    }

    fn decrypt_and_compare(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let mut tag = [0; MAX_TAG_LEN];
        self.cipher.start(op.iv(&mut self.iv))?;
        self.cipher.run(op.payload())?;
        self.mac.tag(op, Ciphertext::InOutput, &mut tag)?;
        if op.tag_matches(&tag) {
            Ok(())
        } else {
            Err(Failure::Auth)
        }
    }
}
