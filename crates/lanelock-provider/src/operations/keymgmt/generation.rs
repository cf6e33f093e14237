//! Keys generated: from the spare ones of a job's thread or of the process, where those are faster,
//! otherwise by the default provider.

use std::ffi::{c_int, c_void};

use lanelock::public_key::{Curve, KeyKind};

use crate::algorithms::Algorithm;
use crate::batch;
use crate::combine;
use crate::default_provider::KEYMGMT;
use crate::ffi::boundary::boundary;
use crate::ffi::delegate::delegate;
use crate::ffi::functions::Keymgmt;
use crate::ffi::params::Reader;
use crate::ffi::{Callback, OSSL_PARAM, SELECT_KEYPAIR};
use crate::key::{self, Key};
use crate::provider::Provider;
use crate::spare;

/// A generation under way.
struct Generation {
    provider: *const Provider,
    index: usize,
    inner: *mut c_void,
    wanted: Wanted,
}

/// What is to be generated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Wanted {
    /// A pair like any other of this kind, one that has spares.
    Plain(KeyKind),
    /// A point of a curve to be named.
    OnCurve,
    /// Something else.
    Other,
}

impl Wanted {
    fn of(algorithm: &[u8], selection: c_int) -> Self {
        match algorithm {
            _ if selection & SELECT_KEYPAIR != SELECT_KEYPAIR => Self::Other,
            b"X25519" => Self::Plain(KeyKind::X25519),
            b"EC" => Self::OnCurve,
            _ => Self::Other,
        }
    }

    /// After parameters were given: a name of the group and nothing else leaves a plain pair.
    fn with(self, params: Reader) -> Self {
        match (params.len(), params.text(c"group")) {
            (0, _) => self,
            (1, Some(group)) => self.in_group(group),
            _ => Self::Other,
        }
    }

    fn in_group(self, group: &str) -> Self {
        match self {
            Self::Plain(KeyKind::X25519) => self,
            Self::OnCurve | Self::Plain(_) => match key::curve(group) {
                // Of P-256 the default provider generates a key as fast as it imports one.
                Some(Curve::P384) => Self::Plain(KeyKind::Ec(Curve::P384)),
                _ => Self::Other,
            },
            Self::Other => self,
        }
    }
}

/// What has to be chosen for keys of this kind to come from lanes.
fn choice(kind: KeyKind) -> Algorithm {
    match kind {
        KeyKind::X25519 => Algorithm::X25519,
        _ => Algorithm::Ecdh,
    }
}

impl Generation {
    /// # Safety
    /// `raw` came from [`init`], and is not used after the call that passed it.
    unsafe fn of<'g>(raw: *mut c_void) -> (&'g mut Self, &'g Keymgmt) {
        // SAFETY: the caller's; one thread uses it at a time, and the provider outlives it.
        unsafe {
            let generation: &mut Self = &mut *raw.cast();
            let provider: &Provider = &*generation.provider;
            let theirs = &provider.theirs().keymgmt[generation.index];
            (generation, theirs)
        }
    }
}

pub(super) unsafe extern "C" fn init<const A: usize>(
    provctx: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let (provider, reader) = unsafe { (Provider::of(provctx), Reader::new(params)) };
        let Some(theirs) = provider.to_make_with() else {
            return std::ptr::null_mut();
        };
        let inner: *mut c_void =
            delegate!(theirs.keymgmt[A].gen_init, theirs.state, selection, params);
        if inner.is_null() {
            return inner;
        }
        let generation = Generation {
            provider,
            index: A,
            inner,
            wanted: Wanted::of(KEYMGMT[A].to_bytes(), selection).with(reader),
        };
        Box::into_raw(Box::new(generation)).cast()
    })
}

pub(super) unsafe extern "C" fn set_template(
    generation: *mut c_void,
    template: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let ((generation, theirs), template) =
            unsafe { (Generation::of(generation), Key::of(template)) };
        generation.wanted = match template.plain_group() {
            Some(group) => generation.wanted.in_group(&group),
            None => Wanted::Other,
        };
        delegate!(theirs.gen_set_template, generation.inner, template.inner)
    })
}

pub(super) unsafe extern "C" fn set_params(
    generation: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let ((generation, theirs), reader) =
            unsafe { (Generation::of(generation), Reader::new(params)) };
        generation.wanted = generation.wanted.with(reader);
        delegate!(theirs.gen_set_params, generation.inner, params)
    })
}

pub(super) unsafe extern "C" fn settable_params<const A: usize>(
    generation: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, inner) = unsafe { (Provider::of(provctx).theirs(), inner(generation)) };
        delegate!(theirs.keymgmt[A].gen_settable_params, inner, theirs.state)
    })
}

pub(super) unsafe extern "C" fn get_params(
    generation: *mut c_void,
    params: *mut OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (generation, theirs) = unsafe { Generation::of(generation) };
        delegate!(theirs.gen_get_params, generation.inner, params)
    })
}

pub(super) unsafe extern "C" fn gettable_params<const A: usize>(
    generation: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, inner) = unsafe { (Provider::of(provctx).theirs(), inner(generation)) };
        delegate!(theirs.keymgmt[A].gen_gettable_params, inner, theirs.state)
    })
}

/// The default provider's own; null where the core asks about the algorithm.
///
/// # Safety
/// `generation` is null, or as [`Generation::of`].
unsafe fn inner(generation: *mut c_void) -> *mut c_void {
    match generation.is_null() {
        true => generation,
        // SAFETY: the caller's.
        false => unsafe { Generation::of(generation) }.0.inner,
    }
}

pub(super) unsafe extern "C" fn generate(
    generation: *mut c_void,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let (generation, theirs) = unsafe { Generation::of(generation) };
        // SAFETY: as above.
        let provider = unsafe { &*generation.provider };
        if let Wanted::Plain(kind) = generation.wanted
            && provider.has_lanes()
            && provider.config.algorithms.has(choice(kind))
            && let Some(pair) = match batch::inside_job() {
                true => spare::take(kind),
                false => combine::spare(provider.config.threads, kind),
            }
        {
            // SAFETY: as above.
            let key = unsafe { Key::import(generation.provider, generation.index, &pair) };
            if key.is_some() {
                return Key::into_raw(key);
            }
        }
        let inner: *mut c_void = delegate!(theirs.generate, generation.inner, callback, arg);
        // SAFETY: just made by these functions.
        Key::into_raw(unsafe { Key::adopt(generation.provider, generation.index, inner) })
    })
}

pub(super) unsafe extern "C" fn cleanup(generation: *mut c_void) {
    boundary(|| {
        if generation.is_null() {
            return;
        }
        // SAFETY: see `operations`.
        let (current, theirs) = unsafe { Generation::of(generation) };
        if let Some(cleanup) = theirs.gen_cleanup {
            // SAFETY: see `operations`.
            unsafe { cleanup(current.inner) };
        }
        // SAFETY: made by `init`, cleaned up once.
        drop(unsafe { Box::from_raw(generation.cast::<Generation>()) });
    })
}
