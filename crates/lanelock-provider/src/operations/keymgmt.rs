//! KEYMGMT: keys made, imported, exported and compared by the default provider.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::ffi::delegate::delegate;
use crate::ffi::functions::{Keymgmt, Table};
use crate::ffi::{Callback, OSSL_PARAM};
use crate::key::Key;
use crate::provider::Provider;

/// What is offered in front of `theirs`, the functions of algorithm `index`.
pub(crate) fn functions(index: usize, theirs: &Keymgmt) -> Keymgmt {
    match index {
        0 => of::<0>(theirs),
        1 => of::<1>(theirs),
        2 => of::<2>(theirs),
        3 => of::<3>(theirs),
        _ => of::<4>(theirs),
    }
}

fn of<const A: usize>(theirs: &Keymgmt) -> Keymgmt {
    let ours = Keymgmt {
        new: Some(new::<A>),
        gen_init: Some(gen_init::<A>),
        gen_set_template: Some(gen_set_template),
        gen_set_params: Some(gen_set_params),
        gen_settable_params: Some(gen_settable_params::<A>),
        generate: Some(generate),
        gen_cleanup: Some(gen_cleanup),
        free: Some(free),
        gettable_params: Some(gettable_params::<A>),
        set_params: Some(set_params),
        settable_params: Some(settable_params::<A>),
        // These three know neither key nor provider.
        query_operation_name: theirs.query_operation_name,
        import_types: theirs.import_types,
        export_types: theirs.export_types,
        has: Some(has),
        matches: Some(matches),
        import: Some(import),
        dup: Some(dup),
        ..Keymgmt::forward::<Key>()
    };
    ours.among(theirs)
}

/// A generation under way.
struct Generation {
    provider: *const Provider,
    index: usize,
    inner: *mut c_void,
}

impl Generation {
    /// # Safety
    /// `raw` came from `gen_init`, and is not used after the call that passed it.
    unsafe fn of<'g>(raw: *mut c_void) -> (&'g Self, &'g Keymgmt) {
        // SAFETY: the caller's; the provider outlives what it makes.
        unsafe {
            let generation: &Self = &*raw.cast();
            let provider = &*generation.provider;
            (generation, &provider.keymgmt[generation.index])
        }
    }
}

unsafe extern "C" fn new<const A: usize>(provctx: *mut c_void) -> *mut c_void {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner: *mut c_void = delegate!(provider.keymgmt[A].new, provider.inner);
    // SAFETY: just made by these functions.
    Key::into_raw(unsafe { Key::adopt(provider, A, inner) })
}

unsafe extern "C" fn free(key: *mut c_void) {
    if !key.is_null() {
        // SAFETY: see `operations`; the core's reference ends here.
        drop(unsafe { Arc::from_raw(key.cast::<Key>().cast_const()) });
    }
}

unsafe extern "C" fn gen_init<const A: usize>(
    provctx: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> *mut c_void {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    let inner: *mut c_void = delegate!(
        provider.keymgmt[A].gen_init,
        provider.inner,
        selection,
        params
    );
    if inner.is_null() {
        return inner;
    }
    Box::into_raw(Box::new(Generation {
        provider,
        index: A,
        inner,
    }))
    .cast()
}

unsafe extern "C" fn gen_set_template(generation: *mut c_void, template: *mut c_void) -> c_int {
    // SAFETY: see `operations`.
    let ((generation, theirs), template) =
        unsafe { (Generation::of(generation), Key::of(template)) };
    delegate!(theirs.gen_set_template, generation.inner, template.inner)
}

unsafe extern "C" fn gen_set_params(generation: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let (generation, theirs) = unsafe { Generation::of(generation) };
    delegate!(theirs.gen_set_params, generation.inner, params)
}

unsafe extern "C" fn gen_settable_params<const A: usize>(
    generation: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    // Null where the core asks about the algorithm.
    let inner = match generation.is_null() {
        true => generation,
        // SAFETY: see `operations`.
        false => unsafe { Generation::of(generation) }.0.inner,
    };
    delegate!(
        provider.keymgmt[A].gen_settable_params,
        inner,
        provider.inner
    )
}

unsafe extern "C" fn generate(
    generation: *mut c_void,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> *mut c_void {
    // SAFETY: see `operations`.
    let (generation, theirs) = unsafe { Generation::of(generation) };
    let inner: *mut c_void = delegate!(theirs.generate, generation.inner, callback, arg);
    // SAFETY: just made by these functions.
    Key::into_raw(unsafe { Key::adopt(generation.provider, generation.index, inner) })
}

unsafe extern "C" fn gen_cleanup(generation: *mut c_void) {
    if generation.is_null() {
        return;
    }
    // SAFETY: see `operations`.
    let (current, theirs) = unsafe { Generation::of(generation) };
    if let Some(cleanup) = theirs.gen_cleanup {
        // SAFETY: see `operations`.
        unsafe { cleanup(current.inner) };
    }
    // SAFETY: made by `gen_init`, cleaned up once.
    drop(unsafe { Box::from_raw(generation.cast::<Generation>()) });
}

unsafe extern "C" fn gettable_params<const A: usize>(provctx: *mut c_void) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    delegate!(provider.keymgmt[A].gettable_params, provider.inner)
}

unsafe extern "C" fn set_params(key: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    // SAFETY: see `operations`.
    let key = unsafe { Key::of(key) };
    key.forget_sessions();
    delegate!(key.functions().set_params, key.inner, params)
}

unsafe extern "C" fn settable_params<const A: usize>(provctx: *mut c_void) -> *const OSSL_PARAM {
    // SAFETY: see `operations`.
    let provider = unsafe { Provider::of(provctx) };
    delegate!(provider.keymgmt[A].settable_params, provider.inner)
}

unsafe extern "C" fn has(key: *mut c_void, selection: c_int) -> c_int {
    if key.is_null() {
        return 0;
    }
    // SAFETY: see `operations`.
    let key = unsafe { Key::of(key) };
    delegate!(key.functions().has, key.inner, selection)
}

unsafe extern "C" fn matches(one: *mut c_void, other: *mut c_void, selection: c_int) -> c_int {
    // SAFETY: see `operations`.
    let (one, other) = unsafe { (Key::of(one), Key::of(other)) };
    delegate!(one.functions().matches, one.inner, other.inner, selection)
}

unsafe extern "C" fn import(
    key: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> c_int {
    // SAFETY: see `operations`.
    let key = unsafe { Key::of(key) };
    key.forget_sessions();
    delegate!(key.functions().import, key.inner, selection, params)
}

unsafe extern "C" fn dup(key: *mut c_void, selection: c_int) -> *mut c_void {
    // SAFETY: see `operations`.
    let key = unsafe { Key::of(key) };
    let inner: *mut c_void = delegate!(key.functions().dup, key.inner, selection);
    // SAFETY: just made by these functions.
    Key::into_raw(unsafe { Key::adopt(key.provider(), key.index(), inner) })
}
