//! Ciphers without authentication, alone or as half of a chain.

use std::sync::Arc;

use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{ValidOp, Wiped};
use lanelock_core::transform::Direction;
use lanelock_core::{Cipher, Transform};
use zeroize::Zeroizing;

use crate::catalogue::Catalogue;
use crate::cbc::Cbc;
use crate::context::{Context, Failure, Maker};
use crate::docsis::Docsis;
use crate::ffi::{CipherContext, Failed};
use crate::gather::gathered;
use crate::triple_des_ctr::TripleDesCtr;

/// The cipher of a session without a MAC.
pub(crate) struct CipherOnly {
    cipher: CipherHalf,
    iv: [u8; MAX_IV_LEN],
}

/// A keyed cipher for one direction.
pub(crate) enum CipherHalf {
    /// Chained blocks of 16 bytes.
    Cbc16(Cbc<16>),
    /// Chained blocks of 8 bytes.
    Cbc8(Cbc<8>),
    /// One that takes a message in any number of updates of whole blocks.
    Updates {
        context: CipherContext,
        block: usize,
        has_iv: bool,
    },
    /// AES-XTS, whose update is a whole data unit: segments are gathered.
    Whole {
        context: CipherContext,
        scratch: Zeroizing<Vec<u8>>,
    },
    TripleDesCtr(Box<Wiped<TripleDesCtr>>),
    Docsis16(Docsis<16>),
    Docsis8(Docsis<8>),
}

/// Makes contexts for a session of `cipher`.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, cipher: Cipher, transform: &Transform) -> Maker {
    let half = half(catalogue, cipher, transform);
    Box::new(move || {
        Ok(Context::Cipher(CipherOnly {
            cipher: half()?,
            iv: [0; MAX_IV_LEN],
        }))
    })
}

/// Makes the cipher of a session, alone or in a chain.
pub(crate) fn half(
    catalogue: &Arc<Catalogue>,
    cipher: Cipher,
    transform: &Transform,
) -> impl Fn() -> Result<CipherHalf, Failed> + Send + Sync + use<> {
    let key = full_key(cipher, transform.key());
    let encrypt = transform.direction() == Direction::Forward;
    let catalogue = catalogue.clone();
    move || {
        let keyed = |member: Cipher, encrypt, iv_len| {
            let algorithm = catalogue.cipher(member, key.len()).ok_or(Failed::MISUSE)?;
            CipherContext::new(algorithm, encrypt, &key, iv_len, None)
        };
        Ok(match cipher {
            Cipher::AesXts => {
                let context = keyed(cipher, encrypt, cipher.iv_len())?;
                CipherHalf::Whole {
                    context,
                    scratch: Zeroizing::default(),
                }
            }
            Cipher::TripleDesCtr => {
                let context = keyed(cipher, true, 0)?;
                CipherHalf::TripleDesCtr(Box::new(Wiped::new(TripleDesCtr::new(context))))
            }
            Cipher::AesDocsis => {
                let chained = Cbc::new(keyed(Cipher::AesCbc, encrypt, 16)?, encrypt)?;
                CipherHalf::Docsis16(Docsis::new(chained, keyed(Cipher::AesEcb, true, 0)?))
            }
            Cipher::DesDocsis => {
                let chained = Cbc::new(keyed(Cipher::DesCbc, encrypt, 8)?, encrypt)?;
                CipherHalf::Docsis8(Docsis::new(chained, keyed(cipher, true, 0)?))
            }
            Cipher::AesCbc | Cipher::CamelliaCbc => {
                CipherHalf::Cbc16(Cbc::new(keyed(cipher, encrypt, 16)?, encrypt)?)
            }
            Cipher::TripleDesCbc | Cipher::DesCbc => {
                CipherHalf::Cbc8(Cbc::new(keyed(cipher, encrypt, 8)?, encrypt)?)
            }
            _ => CipherHalf::Updates {
                context: keyed(cipher, encrypt, cipher.iv_len())?,
                block: cipher.block_len(),
                has_iv: cipher.iv_len() > 0,
            },
        })
    }
}

impl CipherOnly {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        self.cipher.start(op.iv(&mut self.iv))?;
        Ok(self.cipher.run(op.payload())?)
    }
}

impl CipherHalf {
    /// Starts a message.
    #[inline]
    pub(crate) fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        match self {
            Self::Updates {
                context,
                has_iv: true,
                ..
            }
            | Self::Whole { context, .. } => context.start(iv),
            Self::Updates { .. } => Ok(()),
            Self::TripleDesCtr(cipher) => cipher.start(iv),
            Self::Cbc16(cipher) => cipher.start(iv),
            Self::Cbc8(cipher) => cipher.start(iv),
            Self::Docsis16(cipher) => cipher.start(iv),
            Self::Docsis8(cipher) => cipher.start(iv),
        }
    }

    /// Runs the message's whole payload.
    #[inline]
    pub(crate) fn run(&mut self, payload: Cursor<'_>) -> Result<(), Failed> {
        match self {
            Self::Updates { context, block, .. } => {
                payload.for_each_block_run(*block, |mut run| context.update(&mut run))
            }
            Self::Whole { context, scratch } => {
                gathered(payload, scratch, |mut run| context.update(&mut run))
            }
            Self::TripleDesCtr(cipher) => cipher.run(payload),
            Self::Cbc16(cipher) => cipher.run(payload),
            Self::Cbc8(cipher) => cipher.run(payload),
            Self::Docsis16(cipher) => cipher.run(payload),
            Self::Docsis8(cipher) => cipher.run(payload),
        }
    }
}

/// Two-key triple DES uses its first key twice (NIST SP 800-67, 3.2).
fn full_key(cipher: Cipher, key: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut full = Zeroizing::new(Vec::with_capacity(key.len() + 8));
    full.extend_from_slice(key);
    if matches!(cipher, Cipher::TripleDesCbc | Cipher::TripleDesCtr) && key.len() == 16 {
        full.extend_from_slice(&key[..8]);
    }
    full
}
