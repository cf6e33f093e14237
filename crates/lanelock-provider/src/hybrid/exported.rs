//! The halves of the default provider's key, for lanes.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use zeroize::Zeroizing;

use super::{HybridKey, Secret, curve};
use crate::batch::Bytes;
use crate::ffi::boundary::boundary;
use crate::ffi::params::{Reader, Request};
use crate::ffi::{ERR_pop_to_mark, ERR_set_mark, OSSL_PARAM, SELECT_KEYPAIR};
use crate::key::Key;
use crate::spare::Pair;

/// What peers are sent; `None` if the key has no public half, or is held here.
pub(super) fn share(key: &HybridKey) -> Option<Vec<u8>> {
    let (functions, inner) = key.theirs()?;
    let mut share = vec![0; key.group.share_len()];
    let mut request = Request::<2>::new().octets(c"encoded-pub-key", &mut share);
    let get_params = functions.get_params?;
    // SAFETY: a key of these functions, and a terminated array.
    let told = without_errors(|| unsafe { get_params(inner, request.as_mut_ptr()) });
    (told == 1 && request.written(0) == Some(share.len())).then_some(share)
}

/// The secret halves; `None` if the key has none or the default provider does not export them, as those
/// of the NIST curves' groups in 3.5.
pub(super) fn secret(key: &HybridKey) -> Option<Secret> {
    let (functions, inner) = key.theirs()?;
    let export = functions.export?;
    let mut halves: Option<Bytes> = None;
    // SAFETY: a key of these functions; the callback gets what it takes.
    let told = without_errors(|| unsafe {
        let arg = std::ptr::from_mut(&mut halves).cast();
        export(inner, SELECT_KEYPAIR, Some(take), arg)
    });
    let halves = halves.filter(|_| told == 1)?;
    let parts = key.group.split_key(&halves)?;
    let curve = match key.group.curve {
        Some(kind) => {
            let pair = Pair {
                kind,
                secret: Zeroizing::new(parts.curve.to_vec()),
                public: key.group.split_share(key.share()?)?.curve.to_vec(),
            };
            // SAFETY: the provider is alive as long as its keys.
            Some(unsafe { Key::import(key.provider(), curve::index(kind), &pair) }?)
        }
        None => None,
    };
    Some(Secret {
        ml_kem: Zeroizing::new(parts.ml_kem.to_vec()),
        session: OnceLock::new(),
        curve,
    })
}

unsafe extern "C" fn take(params: *const OSSL_PARAM, halves: *mut c_void) -> c_int {
    boundary(|| {
        // SAFETY: `secret` passed it, and the array lasts for this call.
        let (halves, reader) =
            unsafe { (&mut *halves.cast::<Option<Bytes>>(), Reader::new(params)) };
        *halves = reader.octets(c"priv").map(|it| Zeroizing::new(it.to_vec()));
        1
    })
}

/// What the default provider refuses here is asked of it again, by itself.
fn without_errors<R>(ask: impl FnOnce() -> R) -> R {
    // SAFETY: no preconditions; marks are nested.
    unsafe { ERR_set_mark() };
    let answer = ask();
    // SAFETY: as above.
    unsafe { ERR_pop_to_mark() };
    answer
}
