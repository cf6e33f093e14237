//! The curve's part of an exchange, by the default provider's functions.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use lanelock::public_key::{Curve, KeyKind};
use zeroize::Zeroizing;

use crate::batch::Bytes;
use crate::default_provider::{KEYEXCH, KEYMGMT};
use crate::ffi::functions::Keyexch;
use crate::ffi::params::Given;
use crate::ffi::{SELECT_KEYPAIR, SELECT_PARAMETERS, SELECT_PUBLIC};
use crate::key::Key;
use crate::provider::Provider;

/// The place of a curve's keys among [`KEYMGMT`].
pub(super) fn index(kind: KeyKind) -> usize {
    let name = match kind {
        KeyKind::Ec(_) => c"EC",
        _ => c"X25519",
    };
    place(&KEYMGMT, name)
}

fn place(names: &[&CStr], name: &CStr) -> usize {
    let found = names.iter().position(|known| *known == name);
    found.expect("one of the names")
}

/// The name of the group; `None` for what is no group of EC keys.
fn group(kind: KeyKind) -> Option<&'static CStr> {
    match kind {
        KeyKind::Ec(Curve::P256) => Some(c"prime256v1"),
        KeyKind::Ec(Curve::P384) => Some(c"secp384r1"),
        _ => None,
    }
}

fn in_group<'d, const N: usize>(params: Given<'d, N>, kind: KeyKind) -> Given<'d, N> {
    match group(kind) {
        Some(group) => params.text(c"group", group),
        None => params,
    }
}

/// A new key.
pub(super) fn generate(provider: &Provider, kind: KeyKind) -> Option<Arc<Key>> {
    let index = index(kind);
    let theirs = provider.to_make_with()?;
    let functions = &theirs.keymgmt[index];
    let (init, generate, cleanup) = (
        functions.gen_init?,
        functions.generate?,
        functions.gen_cleanup?,
    );
    let params = in_group(Given::<2>::new(), kind);
    // SAFETY: functions of one table with their own state; the array is terminated and outlives the
    // calls. The key is adopted as one of these functions.
    unsafe {
        let generation = init(theirs.state, SELECT_KEYPAIR, params.as_ptr());
        if generation.is_null() {
            return None;
        }
        let key = generate(generation, None, std::ptr::null_mut());
        cleanup(generation);
        Key::adopt(provider, index, key)
    }
}

/// The key of a peer that sent `point`; `None`, and an error on the queue, if it is not on the curve.
fn peer(provider: &Provider, kind: KeyKind, point: &[u8]) -> Option<Arc<Key>> {
    let index = index(kind);
    let theirs = provider.to_make_with()?;
    let functions = &theirs.keymgmt[index];
    let (new, import) = (functions.new?, functions.import?);
    let params = in_group(Given::<3>::new().octets(c"pub", point), kind);
    let selection = SELECT_PUBLIC | SELECT_PARAMETERS;
    // SAFETY: functions of one table with their own state; the array is terminated and outlives the
    // call. The key is adopted, and so freed, as one of these functions.
    unsafe {
        let key = Key::adopt(provider, index, new(theirs.state))?;
        (import(key.inner, selection, params.as_ptr()) == 1).then_some(key)
    }
}

/// The secret that `key` shares with the peer that sent `point`; `None`, and an error on the queue,
/// if the point is not on the curve or the secret would be zero.
pub(super) fn derive(provider: &Provider, kind: KeyKind, key: &Key, point: &[u8]) -> Option<Bytes> {
    let peer = peer(provider, kind, point)?;
    let theirs = provider.to_make_with()?;
    let name = match kind {
        KeyKind::Ec(_) => c"ECDH",
        _ => c"X25519",
    };
    let functions = &theirs.keyexch[place(&KEYEXCH, name)];
    let exchange = Exchange::new(functions, theirs.state)?;
    let (init, set_peer, derive) = (functions.init?, functions.set_peer?, functions.derive?);
    // SAFETY: functions of one table with their own context and keys; the second call of `derive` has
    // the room that the first one asked for.
    unsafe {
        let mut len = 0;
        if init(exchange.context, key.inner, std::ptr::null()) != 1
            || set_peer(exchange.context, peer.inner) != 1
            || derive(exchange.context, std::ptr::null_mut(), &raw mut len, 0) != 1
        {
            return None;
        }
        let mut secret = Zeroizing::new(vec![0; len]);
        let room = secret.len();
        let derived = derive(exchange.context, secret.as_mut_ptr(), &raw mut len, room);
        (derived == 1 && len == room).then_some(secret)
    }
}

/// The default provider's context, freed with the value.
struct Exchange<'f> {
    functions: &'f Keyexch,
    context: *mut c_void,
}

impl<'f> Exchange<'f> {
    fn new(functions: &'f Keyexch, state: *mut c_void) -> Option<Self> {
        // SAFETY: its own function and state.
        let context = unsafe { functions.newctx?(state) };
        (!context.is_null()).then_some(Self { functions, context })
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if let Some(free) = self.functions.freectx {
            // SAFETY: made by these functions, freed once.
            unsafe { free(self.context) };
        }
    }
}
