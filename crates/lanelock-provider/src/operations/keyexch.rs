//! KEYEXCH: shared secrets of curves that have lanes in a batch, everything else by the default
//! provider.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use lanelock::public_key::KeyJob;
use zeroize::Zeroizing;

use super::context::{self, Context, Operation};
use super::output::Output;
use super::scheme;
use crate::algorithms::Algorithm;
use crate::batch::Bytes;
use crate::combine::Group;
use crate::default_provider::{DefaultProvider, KEYEXCH};
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::boundary;
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{ContextTable, Keyexch, Table};
use crate::key::{Key, Use};
use crate::provider::Provider;

/// A key exchange under way.
#[derive(Clone, Default)]
struct Exchange {
    peer: Option<Arc<Key>>,
}

impl Operation for Exchange {
    type Table = Keyexch;

    fn choice(index: usize) -> Algorithm {
        match KEYEXCH[index].to_bytes() {
            b"ECDH" => Algorithm::Ecdh,
            _ => Algorithm::X25519,
        }
    }

    fn tables(provider: &DefaultProvider) -> &[Keyexch] {
        &provider.keyexch
    }

    fn group(index: usize, _: &Key) -> Option<Group> {
        (Self::choice(index) == Algorithm::X25519).then_some(Group::X25519)
    }

    /// A context says itself what it was set to (`scheme::is_bare`).
    unsafe fn see(&mut self, _: usize, _: *const OSSL_PARAM) {}
}

/// What is offered in front of `theirs`, the functions of algorithm `index`.
pub(crate) fn functions(index: usize, theirs: &Keyexch) -> Keyexch {
    match index {
        0 => of::<0>(theirs),
        _ => of::<1>(theirs),
    }
}

fn of<const A: usize>(theirs: &Keyexch) -> Keyexch {
    let mut ours = Keyexch {
        newctx: Some(newctx::<A>),
        init: Some(init),
        set_peer: Some(set_peer),
        derive: Some(derive),
        ..Keyexch::forward::<Context<Exchange>>()
    };
    ours.set_common(context::common::<Exchange, A>());
    ours.among(theirs)
}

unsafe extern "C" fn newctx<const A: usize>(provctx: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let provider = unsafe { Provider::of(provctx) };
        let Some(theirs) = provider.to_make_with() else {
            return std::ptr::null_mut();
        };
        let inner = delegate!(theirs.keyexch[A].newctx, theirs.state);
        Context::<Exchange>::adopt(provider, A, inner)
    })
}

context::starts! { Exchange; init(); }

unsafe extern "C" fn set_peer(context: *mut c_void, peer: *mut c_void) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, peer) = unsafe { (Context::<Exchange>::of(context), Key::share(peer)) };
        let inner = peer
            .as_ref()
            .map_or(std::ptr::null_mut(), |peer| peer.inner);
        context.operation.peer = peer;
        delegate!(context.theirs().set_peer, context.inner, inner)
    })
}

unsafe extern "C" fn derive(
    context: *mut c_void,
    secret: *mut c_uchar,
    len: *mut usize,
    room: usize,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (context, output) = unsafe {
            (
                Context::<Exchange>::of(context),
                Output::new(secret, len, room),
            )
        };
        match context.batch(output, |key| job(context, key)) {
            Some(done) => done,
            None => delegate!(context.theirs().derive, context.inner, secret, len, room),
        }
    })
}

fn job(context: &Context<Exchange>, key: &Key) -> Option<KeyJob<Bytes>> {
    let peer = context.operation.peer.as_ref()?;
    if KEYEXCH[context.index()] == c"ECDH" {
        let get = context.theirs().get_ctx_params?;
        // SAFETY: the functions and the context belong together.
        unsafe { scheme::is_bare(get, context.inner) }.then_some(())?;
    }
    let session = key.session(Use::Derive)?;
    let peer = Zeroizing::new(peer.public_bytes()?);
    let secret = Zeroizing::new(vec![0; session.output_len(peer.len())]);
    Some(KeyJob::derive(&session, peer, secret))
}
