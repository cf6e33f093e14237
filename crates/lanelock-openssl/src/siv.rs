//! AES-SIV (RFC 5297) out of this engine's CMAC and a context of AES-CTR: OpenSSL's own takes each
//! part of a message in one piece, copies a MAC context for it, and before 3.0.10 does not
//! authenticate an empty one.

use std::sync::Arc;

use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{ValidOp, Wiped};
use lanelock_core::transform::Direction;
use lanelock_core::{Cipher, Transform};
use zeroize::{Zeroize, Zeroizing};

use crate::catalogue::Catalogue;
use crate::cbc::xor;
use crate::cmac::{Cmac, double};
use crate::context::{Context, Failure, Maker};
use crate::ffi::{CipherContext, Failed};

const BLOCK: usize = 16;

/// A keyed AES-SIV for one direction.
pub(crate) struct Siv {
    cmac: Cmac,
    ctr: CipherContext,
    /// The CMAC of a zero block, with which S2V begins.
    zero: [u8; BLOCK],
    seal: bool,
    iv: [u8; MAX_IV_LEN],
}

/// Makes contexts for a session of AES-SIV.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, transform: &Transform) -> Maker {
    let catalogue = catalogue.clone();
    let key = Zeroizing::new(transform.key().to_vec());
    let seal = transform.direction() == Direction::Forward;
    Box::new(move || {
        // RFC 5297, 2.6: the left half is S2V's.
        let (mac_key, key) = key.split_at(key.len() / 2);
        let keyed = |cipher, key: &[u8]| {
            let algorithm = catalogue.cipher(cipher, key.len()).ok_or(Failed::MISUSE)?;
            CipherContext::new(algorithm, true, key, BLOCK, None)
        };
        let mut siv = Siv {
            cmac: Cmac::new(keyed(Cipher::AesCbc, mac_key)?)?,
            ctr: keyed(Cipher::AesCtr, key)?,
            zero: [0; BLOCK],
            seal,
            iv: [0; MAX_IV_LEN],
        };
        siv.cmac.start();
        siv.cmac.update(&[0; BLOCK])?;
        siv.zero = siv.finish()?;
        Ok(Context::Siv(Box::new(Wiped::new(siv))))
    })
}

impl Siv {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        if self.seal {
            return Ok(self.seal(op)?);
        }
        let result = self.open(op);
        if result.is_err() {
            op.wipe_output();
        }
        result
    }

    /// Reads the whole payload before any of it is encrypted.
    fn seal(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
        let header = self.header(op)?;
        let synthetic = self.synthetic(header, op.payload())?;
        self.crypt(&synthetic, op)?;
        op.write_tag(&synthetic);
        Ok(())
    }

    /// Plaintext is written before the tag is compared; the caller wipes it after a failure.
    fn open(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let header = self.header(op)?;
        let mut scratch = [0; MAX_TAG_LEN];
        let expected = op.expected_tag(&mut scratch);
        let expected = *expected.first_chunk().ok_or(Failed::MISUSE)?;
        self.crypt(&expected, op)?;
        let synthetic = self.synthetic(header, op.output_payload())?;
        if op.tag_matches(&synthetic) {
            Ok(())
        } else {
            Err(Failure::Auth)
        }
    }

    /// S2V over what stands in front of the plaintext (RFC 5297, 2.4): the additional data, a
    /// component even if it is empty, then the IV of a session that has one.
    fn header(&mut self, op: &ValidOp<'_, '_>) -> Result<[u8; BLOCK], Failed> {
        self.cmac.start();
        op.for_each_aad(|piece| self.cmac.update(piece))?;
        let mut header = double(self.zero);
        xor(&mut header, &self.finish()?);
        let iv = op.iv(&mut self.iv);
        if !iv.is_empty() {
            self.cmac.start();
            self.cmac.update(iv)?;
            header = double(header);
            xor(&mut header, &self.finish()?);
        }
        Ok(header)
    }

    /// S2V's result: the CMAC of the plaintext with `header` XORed into its last block, or of its
    /// padded block if it is shorter than one.
    fn synthetic(
        &mut self,
        header: [u8; BLOCK],
        mut plaintext: Cursor<'_>,
    ) -> Result<[u8; BLOCK], Failed> {
        self.cmac.start();
        let len = plaintext.remaining();
        let mut last = [0; BLOCK];
        if let Some(mut before) = len.checked_sub(BLOCK) {
            plaintext.copy_in_at(before, &mut last);
            while let Some(run) = plaintext.next_run(before) {
                self.cmac.update(run.input_bytes())?;
                before -= run.len();
            }
            xor(&mut last, &header);
        } else {
            plaintext.copy_in(&mut last[..len]);
            last[len] = 0x80;
            xor(&mut last, &double(header));
        }
        let result = self.cmac.update(&last).and_then(|()| self.finish());
        last.zeroize();
        result
    }

    /// Encrypts or decrypts the payload (RFC 5297, 2.5): the counter starts at the synthetic IV
    /// without the top bits of its last two words.
    fn crypt(&mut self, synthetic: &[u8; BLOCK], op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
        let mut counter = *synthetic;
        counter[8] &= 0x7f;
        counter[12] &= 0x7f;
        let Self { ctr, .. } = self;
        ctr.start(&counter)?;
        op.payload()
            .for_each_block_run(1, |mut run| ctr.update(&mut run))
    }

    /// Ends a message of CMAC.
    fn finish(&mut self) -> Result<[u8; BLOCK], Failed> {
        let mut tag = [0; MAX_TAG_LEN];
        self.cmac.finish(&mut tag)?;
        tag.first_chunk().copied().ok_or(Failed::MISUSE)
    }
}

impl Drop for Siv {
    fn drop(&mut self) {
        self.zero.zeroize();
    }
}
