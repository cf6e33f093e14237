//! The engine's part of a public-key session, and what a queue keeps for it.

use std::sync::Arc;

use lanelock_core::engine::{PerQueue, QueueToken, Wiped};
use lanelock_core::session::SessionMemory;
use lanelock_public_key::engine::{KeyBatch, KeyEngineSession, ValidKeyOp};
use lanelock_public_key::{KeyError, KeyReason, KeyTransform, Operation, Scheme, SignatureScheme};

use super::agree::{Agreement, Decapsulator, Encapsulator};
use super::encrypt::{Decrypter, Encrypter};
use super::generate::Generator;
use super::import;
use super::sign::{Signer, Verifier, WholeSigner, WholeVerifier};
use crate::NAME;
use crate::catalogue::Catalogue;
use crate::ffi::{ErrorMark, Failed};

pub(super) struct OpenSslKeySession {
    contexts: PerQueue<Kept>,
    recipe: Recipe,
}

/// What contexts are made from.
pub(super) struct Recipe {
    pub(super) transform: KeyTransform,
    pub(super) catalogue: Arc<Catalogue>,
}

/// One queue's key and context of a session. Each queue has a key of its own: libcrypto's lock on
/// a key's blinding, and its reference counts, are then no other thread's.
struct Kept {
    context: Context,
    /// Behind the context, which refers to it.
    _catalogue: Arc<Catalogue>,
}

enum Context {
    Sign(Signer),
    SignWhole(WholeSigner),
    Verify(Verifier),
    VerifyWhole(WholeVerifier),
    Encrypt(Encrypter),
    Decrypt(Box<Wiped<Decrypter>>),
    Agree(Agreement),
    Generate(Generator),
    Encapsulate(Encapsulator),
    Decapsulate(Decapsulator),
}

impl OpenSslKeySession {
    pub(super) fn open(
        catalogue: &Arc<Catalogue>,
        transform: &KeyTransform,
    ) -> Result<Self, KeyError> {
        import::check(catalogue.library(), transform.key())?;
        let recipe = Recipe {
            transform: transform.clone(),
            catalogue: catalogue.clone(),
        };
        // What libcrypto refuses is found now, not with the first operation.
        recipe.make().map_err(|failed| KeyError::Engine {
            engine: NAME,
            why: format!("{}: {failed}", transform.spec()),
        })?;
        Ok(Self {
            contexts: PerQueue::new(),
            recipe,
        })
    }

    fn run(&self, queue: &mut QueueToken, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let kept = self.contexts.get_or_try_make(queue, || {
            self.recipe.make().map(|context| Kept {
                context,
                _catalogue: self.recipe.catalogue.clone(),
            })
        })?;
        kept.context.run(op)
    }
}

impl Recipe {
    fn make(&self) -> Result<Context, Failed> {
        let spec = self.transform.spec();
        Ok(match (spec.operation, spec.scheme) {
            (Operation::Sign, Scheme::Signature(scheme)) if is_whole(scheme) => {
                Context::SignWhole(WholeSigner::new(self, scheme)?)
            }
            (Operation::Verify, Scheme::Signature(scheme)) if is_whole(scheme) => {
                Context::VerifyWhole(WholeVerifier::new(self, scheme)?)
            }
            (Operation::Sign, Scheme::Signature(scheme)) => {
                Context::Sign(Signer::new(self, scheme)?)
            }
            (Operation::Verify, Scheme::Signature(scheme)) => {
                Context::Verify(Verifier::new(self, scheme)?)
            }
            (Operation::Encrypt, Scheme::Encryption(scheme)) => {
                Context::Encrypt(Encrypter::new(self, scheme)?)
            }
            (Operation::Decrypt, Scheme::Encryption(scheme)) => {
                Context::Decrypt(Box::new(Wiped::new(Decrypter::new(self, scheme)?)))
            }
            (Operation::Derive, _) => Context::Agree(Agreement::new(self)?),
            (Operation::Generate, _) => Context::Generate(Generator::new(self)?),
            (Operation::Encapsulate, _) => Context::Encapsulate(Encapsulator::new(self)?),
            (Operation::Decapsulate, _) => Context::Decapsulate(Decapsulator::new(self)?),
            _ => return Err(Failed::MISUSE),
        })
    }
}

impl Context {
    fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        match self {
            Self::Sign(context) => context.run(op),
            Self::SignWhole(context) => context.run(op),
            Self::Verify(context) => context.run(op),
            Self::VerifyWhole(context) => context.run(op),
            Self::Encrypt(context) => context.run(op),
            Self::Decrypt(context) => context.run(op),
            Self::Agree(context) => context.run(op),
            Self::Generate(context) => context.run(op),
            Self::Encapsulate(context) => context.run(op),
            Self::Decapsulate(context) => context.run(op),
        }
    }
}

impl KeyEngineSession for OpenSslKeySession {
    /// Operations run one at a time: sorting them gains nothing.
    fn group(&self) -> u32 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        let mark = ErrorMark::set();
        batch.for_each(|mut op| {
            let result = match op.session::<Self>() {
                Some(session) => session.run(queue, &mut op),
                None => Err(KeyReason::Engine),
            };
            if let Err(reason) = result {
                mark.rewind();
                op.fail(reason);
            }
        });
    }

    /// Without what OpenSSL allocates for its contexts, which it does not report.
    fn memory(&self) -> SessionMemory {
        let contexts = PerQueue::<Kept>::memory();
        SessionMemory {
            session: size_of::<Self>() + contexts.session,
            ..contexts
        }
    }
}

impl From<Failed> for KeyReason {
    fn from(_: Failed) -> Self {
        Self::Engine
    }
}

/// Whether a scheme takes messages whole.
fn is_whole(scheme: SignatureScheme) -> bool {
    scheme.hash().is_none()
}
