//! The lanelock engine over its own kernels: the messages of a burst advance in lockstep, one in
//! each lane of the CPU's vector registers.
//!
//! A session holds its key expanded, immutable and wiped on drop; queue pairs need no context of
//! it. A batch becomes kernel calls of up to 64 messages, whatever their sessions, as long as
//! algorithm, key size and direction are the same. Messages in one piece run in lanes; messages in
//! segments run piece after piece where they lie, with the same result; nothing is copied. Where a
//! message takes a lane, one in segments does too, and the lane goes on with its next piece. Of an
//! AES-CBC and HMAC (SHA-1, SHA-224 or SHA-256) chain, a message that is alone, or much longer than
//! the others of its burst, runs cipher and MAC interleaved on CPUs with SHA-NI.
//!
//! | algorithm | key bits | a message runs | may be half of a chain |
//! |---|---|---|---|
//! | AES-CBC encryption | 128, 192, 256 | in a lane | yes |
//! | AES-CBC decryption | 128, 192, 256 | blocks side by side | yes |
//! | AES-CTR | 128, 192, 256 | blocks side by side | yes |
//! | AES-CFB encryption, AES-OFB | 128, 192, 256 | in a lane | |
//! | AES-CFB decryption | 128, 192, 256 | blocks side by side | |
//! | AES-ECB | 128, 192, 256 | blocks side by side | |
//! | AES-XTS | 128, 256 | blocks side by side | |
//! | AES-CMAC | 128, 192, 256 | in a lane | yes |
//! | AES-GCM, AES-GMAC | 128, 192, 256 | blocks side by side | |
//! | AES-GCM-SIV | 128, 256 | keys derived together, POLYVAL in a lane, text side by side | |
//! | AES-SIV | 256, 384, 512 | MAC in a lane, text side by side | |
//! | AES-CCM | 128, 192, 256 | MAC in a lane, text side by side; alone, both in one pass | |
//! | ChaCha20, ChaCha20-Poly1305, XChaCha20-Poly1305 | 256 | blocks side by side, those of short messages together | |
//! | SHA-1, SHA-224, SHA-256, SHA-384, SHA-512 | | in a lane | |
//! | HMAC over these | any | in a lane | yes |
//! | SHA3-224, SHA3-256, SHA3-384, SHA3-512, SHAKE128, SHAKE256, cSHAKE128, cSHAKE256 | | in a lane | |
//! | HMAC over SHA-3, KMAC128, KMAC256 | any | in a lane | |
//!
//! | tier | AES | SHA-1, SHA-224, SHA-256 | SHA-384, SHA-512, SHA-3 | ChaCha20, Poly1305 |
//! |---|---|---|---|---|
//! | `avx512` | VAES, four blocks to a register | 16 lanes to a register; SHA-NI for a few messages | 8 lanes | 16 lanes, IFMA |
//! | `avx512bw` | AES-NI | 16 lanes; SHA-NI for a few messages, where the CPU has it | 8 lanes | 16 lanes, Poly1305 in 8 |
//! | `avx2` | VAES, two blocks to a register, or AES-NI | 8 lanes; SHA-NI where faster | 4 lanes | 8 lanes, Poly1305 in 4 |
//! | `aesni` | AES-NI | SHA-NI, or not offered | not offered | not offered |
//! | `neon` | AES, one block to a register | the SHA instructions; without, 4 lanes | 2 lanes | 4 lanes, Poly1305 in 2 |
//! | `portable`, only if it is asked for | plain integers | plain integers | plain integers | plain integers |
//!
//! Public-key operations run in lockstep, each with a key of its own, where the CPU multiplies fast enough
//! for that to be ahead of OpenSSL: all of them with AVX-512 IFMA, eight at a time, or AVX-IFMA or AVX2 and
//! FMA, four at a time, if the tier has those; those of ML-KEM eight at a time.
//!
//! | key | operations | on |
//! |---|---|---|
//! | RSA-2048, -3072, -4096 | sign, verify, encrypt, decrypt | AVX-512 IFMA, AVX-IFMA, AVX2 and FMA |
//! | P-256, P-384 | ECDSA sign and verify (a digest of any hash, or a message with SHA-1, SHA-224, SHA-256, SHA-384 or SHA-512), ECDH, generate | the same |
//! | X25519 | derive, generate | the same |
//! | Ed25519 | sign, verify, generate | the same |
//! | ML-KEM-512, -768, -1024 | generate, encapsulate, decapsulate | any tier |
//!
//! Nonces of ECDSA are hedged: HMAC-DRBG (RFC 6979) over key, digest and 32 bytes of randomness of
//! the operating system, one system call a batch. What a curve's base point is multiplied with is
//! computed once for the process and kept: 190 KiB for P-256, 440 KiB for P-384.
//!
//! The widest tier that the CPU has is taken; the environment variable `LANELOCK_TIER` forces
//! another. A CPU without instructions for AES has no native engine, unless `portable` is asked for: OpenSSL is
//! faster than plain integers.

#![deny(unsafe_code)]

mod aead;
mod burst;
mod carry;
mod catalogue;
mod cbc;
mod cbc_hmac;
mod ccm;
mod chacha;
mod chain;
mod cipher;
mod cmac;
mod ctr;
mod ecb;
mod feedback;
mod gathered;
mod gcm;
mod gcm_siv;
mod group;
mod hash;
mod in_place;
mod mac;
mod public_key;
mod records;
mod rounds;
mod sha3;
mod shake;
mod siv;
mod tags;
mod tier;
mod xchacha;
mod xts;

use std::any::Any;
use std::fmt;

use lanelock_core::engine::{Capability, Engine, EngineSession, offers};
use lanelock_core::{SessionError, Transform};
use lanelock_kernels::Machine;
use lanelock_public_key::engine::KeyHalf;

pub use lanelock_kernels::{Digits, Tier};
pub use tier::{TierError, VARIABLE};

use public_key::PublicKeys;

const NAME: &str = "native";

/// The engine.
pub struct Native {
    machine: Machine,
    capabilities: Vec<Capability>,
    public_keys: KeyHalf,
}

impl Native {
    /// The engine on the tier that `LANELOCK_TIER` names, else on the widest; `None` if this CPU
    /// has no tier that is faster than OpenSSL.
    ///
    /// # Errors
    /// [`TierError`] if the tier that is asked for does not exist or cannot run: another one is
    /// never taken instead.
    pub fn new() -> Result<Option<Self>, TierError> {
        Ok(tier::of_environment()?.map(Self::of))
    }

    /// The engine on `tier`, whatever the environment says.
    ///
    /// # Errors
    /// [`TierError::Unavailable`] if this CPU cannot run it.
    pub fn with_tier(tier: Tier) -> Result<Self, TierError> {
        tier::of_tier(tier).map(Self::of)
    }

    /// The tier that it runs on.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.machine.tier()
    }

    /// How it multiplies the digits of big numbers, on which it depends what public keys it offers:
    /// ML-KEM always, all others from [`Digits::Fma`] on.
    #[must_use]
    pub fn digits(&self) -> Digits {
        self.machine.digits()
    }

    /// How this CPU does on its widest tier, whatever the environment says.
    #[must_use]
    pub fn digits_of_cpu() -> Digits {
        Machine::best().digits()
    }

    fn of(machine: Machine) -> Self {
        Self {
            machine,
            capabilities: catalogue::capabilities(machine),
            public_keys: KeyHalf::new(PublicKeys::of(machine)),
        }
    }
}

impl Engine for Native {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        format!("tier {} ({})", self.tier().name(), self.machine)
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        let offered = offers(&self.capabilities, transform.algorithm());
        let session = offered.then(|| catalogue::open(self.machine, transform));
        session.flatten().ok_or_else(|| SessionError::Unsupported {
            what: transform.spec(),
            why: format!("the {} tier does not have it", self.tier().name()),
        })
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.public_keys)
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native")
            .field("tier", &self.tier())
            .finish_non_exhaustive()
    }
}
