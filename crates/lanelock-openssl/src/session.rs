//! The engine's part of a session: what makes contexts, and one for each queue pair that uses it.

use std::sync::Arc;

use lanelock_core::engine::{Batch, EngineSession, PerQueue, QueueToken, ValidOp, Wiped};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Mac, SessionError, Status, Transform};

use crate::catalogue::Catalogue;
use crate::context::{Context, Failure, MakeContext, Maker};
use crate::ffi::{ErrorMark, Failed, RawDigest};
use crate::{NAME, aead, chain, cipher, hash, mac, siv};

pub(crate) struct OpenSslSession {
    contexts: PerQueue<Kept>,
    /// Operations need an [`ErrorMark`].
    marked: bool,
    make: Box<Wiped<MakeContext>>,
}

/// A queue pair's context.
struct Kept {
    context: Context,
    /// It failed other than by a wrong tag, so its state is not to be trusted.
    suspect: bool,
}

impl OpenSslSession {
    pub(crate) fn open(
        catalogue: &Arc<Catalogue>,
        transform: &Transform,
    ) -> Result<Self, SessionError> {
        let make: Maker = match transform.algorithm() {
            Algorithm::Cipher(c) => cipher::maker(catalogue, c, transform),
            Algorithm::Mac(m) => mac::maker(catalogue, m, transform),
            Algorithm::Hash(h) => hash::maker(catalogue, h, transform),
            Algorithm::Aead(Aead::AesSiv) => siv::maker(catalogue, transform),
            Algorithm::Aead(a) => aead::maker(catalogue, a, transform),
            Algorithm::Chain(order, c, m) => chain::maker(catalogue, order, c, m, transform),
            _ => Box::new(|| Err(Failed::MISUSE)),
        };
        let marked = may_fail(transform);
        // What OpenSSL refuses is found now, not with the first message.
        if let Err(failed) = make() {
            return Err(SessionError::Engine {
                engine: NAME,
                why: failed.to_string(),
            });
        }
        Ok(Self {
            contexts: PerQueue::new(),
            marked,
            make: Wiped::boxed(make),
        })
    }

    #[inline]
    fn run(&self, queue: &mut QueueToken, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let kept = self.contexts.get_or_try_make(queue, || {
            let _mark = ErrorMark::set();
            (**self.make)().map(|context| Kept {
                context,
                suspect: false,
            })
        })?;
        if kept.suspect {
            let _mark = ErrorMark::set();
            *kept = Kept {
                context: (**self.make)()?,
                suspect: false,
            };
        }
        let result = kept.context.run(op);
        kept.suspect = matches!(result, Err(Failure::Engine));
        result
    }
}

impl EngineSession for OpenSslSession {
    /// Messages run one at a time: sorting them gains nothing.
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let mark = self.marked.then(ErrorMark::set_for_burst);
        batch.for_each(|mut op| {
            let result = match op.session::<Self>() {
                Some(session) => session.run(queue, &mut op),
                None => Err(Failure::Engine),
            };
            if let (Err(_), Some(mark)) = (result, &mark) {
                mark.rewind();
            }
            op.complete(match result {
                Ok(()) => Status::Success,
                Err(Failure::Auth) => Status::AuthFailed,
                Err(Failure::Engine) => Status::EngineError,
            });
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

/// Whether libcrypto may fail without a defect of its own: it compares a tag and reports a wrong
/// one in its error queue, or it allocates.
fn may_fail(transform: &Transform) -> bool {
    match transform.algorithm() {
        Algorithm::Aead(_) => transform.direction() == Direction::Reverse,
        Algorithm::Hash(hash)
        | Algorithm::Mac(Mac::Hmac(hash))
        | Algorithm::Chain(_, _, Mac::Hmac(hash)) => RawDigest::new(hash).is_none(),
        _ => false,
    }
}

impl From<Failed> for Failure {
    fn from(_: Failed) -> Self {
        Self::Engine
    }
}
