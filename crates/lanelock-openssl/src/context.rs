//! What one queue pair keeps for one session.

use lanelock_core::engine::{ValidOp, Wiped};

use crate::aead::AeadContext;
use crate::chain::ChainContext;
use crate::cipher::CipherOnly;
use crate::ffi::Failed;
use crate::hash::HashContext;
use crate::mac::MacOnly;
use crate::siv::Siv;

/// Makes a session's contexts; holds its key, which is wiped with it.
pub(crate) type MakeContext = dyn Fn() -> Result<Context, Failed> + Send + Sync;

pub(crate) type Maker = Box<MakeContext>;

/// Keyed state that runs a session's operations.
pub(crate) enum Context {
    Cipher(CipherOnly),
    Mac(MacOnly),
    Hash(HashContext),
    Aead(AeadContext),
    Siv(Box<Wiped<Siv>>),
    Chain(Box<Wiped<ChainContext>>),
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// The tag does not match; no plaintext is left in the output.
    Auth,
    /// libcrypto failed; no unauthenticated plaintext is left in the output.
    Engine,
}

impl Context {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        match self {
            Self::Cipher(context) => context.run(op),
            Self::Mac(context) => context.run(op),
            Self::Hash(context) => context.run(op),
            Self::Aead(context) => context.run(op),
            Self::Siv(context) => context.run(op),
            Self::Chain(context) => context.run(op),
        }
    }
}
