//! KEYMGMT: keys of [`GROUPS`]: the default provider's, wrapped, and those that are held here, whose
//! public halves come and go as peers send them and whose secret halves stay.

use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;

use crate::ffi::boundary::{Reason, boundary, raise_as};
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{Keymgmt, Table};
use crate::ffi::params::{END, Given, Reader};
use crate::ffi::{self, Callback, OSSL_PARAM, SELECT_KEYPAIR, SELECT_PRIVATE, SELECT_PUBLIC, kind};
use crate::hybrid::{self, GROUPS, Group, HybridKey, Refused};
use crate::provider::Provider;

/// What is offered for the group at `index`: in front of `theirs`, if the default provider has
/// functions for it.
pub(crate) fn functions(index: usize, theirs: &Keymgmt) -> Keymgmt {
    match index {
        0 => of::<0>(theirs),
        1 => of::<1>(theirs),
        2 => of::<2>(theirs),
        3 => of::<3>(theirs),
        4 => of::<4>(theirs),
        _ => of::<5>(theirs),
    }
}

fn of<const G: usize>(theirs: &Keymgmt) -> Keymgmt {
    let ours = Keymgmt {
        new: Some(new::<G>),
        free: Some(free),
        dup: Some(dup),
        gen_init: Some(gen_init::<G>),
        gen_set_params: Some(gen_set_params),
        gen_settable_params: Some(gen_settable_params::<G>),
        generate: Some(generate),
        gen_cleanup: Some(gen_cleanup),
        get_params: Some(get_params),
        gettable_params: Some(gettable_params::<G>),
        set_params: Some(set_params),
        settable_params: Some(settable_params::<G>),
        has: Some(has),
        matches: Some(matches),
        import: Some(import),
        export: Some(export),
        // These know neither key nor provider.
        query_operation_name: theirs.query_operation_name,
        import_types: theirs.import_types.or(Some(types)),
        export_types: theirs.export_types.or(Some(types)),
        ..Keymgmt::default()
    };
    match theirs.new {
        Some(_) => Keymgmt {
            validate: Some(validate),
            ..ours
        }
        .among(theirs),
        None => ours,
    }
}

/// Puts the error on the queue; what a function that fails returns.
pub(super) fn refuse(Refused(reason, message): &Refused) -> c_int {
    raise_as(*reason, message);
    0
}

impl HybridKey {
    /// The key as the core holds it.
    fn into_raw(self) -> *mut c_void {
        Arc::into_raw(Arc::new(self)).cast_mut().cast()
    }

    /// As [`HybridKey::adopt`], as the core holds it.
    ///
    /// # Safety
    /// As there.
    unsafe fn adopt_raw(
        provider: *const Provider,
        index: usize,
        inner: *mut c_void,
    ) -> *mut c_void {
        // SAFETY: the caller's.
        let key = unsafe { Self::adopt(provider, index, inner) };
        key.map_or(std::ptr::null_mut(), Self::into_raw)
    }

    /// # Safety
    /// `raw` came from [`HybridKey::into_raw`], and is not used after the call that passed it.
    unsafe fn of<'k>(raw: *const c_void) -> &'k Self {
        // SAFETY: the caller's.
        unsafe { &*raw.cast() }
    }

    /// What the core passes, shared; `None` for null.
    ///
    /// # Safety
    /// `raw` is null, or came from [`HybridKey::into_raw`] and the core has not freed it.
    pub(super) unsafe fn shared(raw: *mut c_void) -> Option<Arc<Self>> {
        let raw: *const Self = raw.cast();
        // SAFETY: the caller's; the count is raised for the clone.
        (!raw.is_null()).then(|| unsafe {
            Arc::increment_strong_count(raw);
            Arc::from_raw(raw)
        })
    }
}

/// The default provider's functions for group `G`, with its state; `None`, and an error on the queue,
/// if it was unloaded.
fn theirs<const G: usize>(provider: &Provider) -> Option<(&Keymgmt, *mut c_void)> {
    let theirs = provider.to_make_with()?;
    Some((&theirs.hybrid_keymgmt[G], theirs.state))
}

unsafe extern "C" fn new<const G: usize>(provctx: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let provider = unsafe { Provider::of(provctx) };
        let Some((functions, state)) = theirs::<G>(provider) else {
            return std::ptr::null_mut();
        };
        match functions.new {
            // SAFETY: as above; just made by these functions.
            Some(new) => unsafe { HybridKey::adopt_raw(provider, G, new(state)) },
            None => HybridKey::empty(provider, G).into_raw(),
        }
    })
}

unsafe extern "C" fn free(key: *mut c_void) {
    boundary(|| {
        if !key.is_null() {
            // SAFETY: see `operations`; the core's reference ends here.
            drop(unsafe { Arc::from_raw(key.cast::<HybridKey>().cast_const()) });
        }
    })
}

unsafe extern "C" fn dup(key: *mut c_void, selection: c_int) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let key = unsafe { HybridKey::of(key) };
        if let Some((functions, inner)) = key.theirs() {
            let copy: *mut c_void = delegate!(functions.dup, inner, selection);
            // SAFETY: just made by these functions.
            return unsafe { HybridKey::adopt_raw(key.provider(), key.index(), copy) };
        }
        let is_in = |half| selection & half != 0;
        key.copy(is_in(SELECT_PUBLIC), is_in(SELECT_PRIVATE))
            .into_raw()
    })
}

/// A generation under way.
struct Generation {
    provider: *const Provider,
    index: usize,
    /// The default provider's; null for a key that is held here.
    inner: *mut c_void,
    /// Otherwise a key without halves, which libssl gives a peer's share.
    is_pair: bool,
}

impl Generation {
    /// # Safety
    /// `raw` came from [`gen_init`], and is not used after the call that passed it.
    unsafe fn of<'g>(raw: *mut c_void) -> &'g Self {
        // SAFETY: the caller's.
        unsafe { &*raw.cast() }
    }

    fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state last.
        unsafe { &*self.provider }
    }

    /// The default provider's functions, if it is its generation.
    fn theirs(&self) -> Option<&Keymgmt> {
        let is_here = self.inner.is_null();
        (!is_here).then(|| &self.provider().theirs().hybrid_keymgmt[self.index])
    }

    /// Takes parameters: the group's own name, and no other.
    fn takes(&self, params: Reader) -> bool {
        let name = GROUPS[self.index].as_str();
        match params.text(c"group") {
            Some(given) if !given.is_empty() && !given.eq_ignore_ascii_case(name) => {
                let message = format!("{name}: group = {given}; leave it out, or use {name}");
                raise_as(Reason::NotSupported, &message);
                false
            }
            _ => true,
        }
    }
}

/// Whether the key to be generated is for an exchange of TLS that can run in lanes. A key of ML-KEM by
/// itself may be for other uses.
fn is_held_here(provider: &Provider, group: &Group, params: Reader) -> bool {
    group.curve.is_some() && params.len() == 0 && hybrid::is_for_lanes(provider)
}

unsafe extern "C" fn gen_init<const G: usize>(
    provctx: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let (provider, reader) = unsafe { (Provider::of(provctx), Reader::new(params)) };
        let Some((functions, state)) = theirs::<G>(provider) else {
            return std::ptr::null_mut();
        };
        let mut generation = Generation {
            provider,
            index: G,
            inner: std::ptr::null_mut(),
            is_pair: selection & SELECT_KEYPAIR == SELECT_KEYPAIR,
        };
        let is_here = match functions.gen_init {
            Some(init) if !is_held_here(provider, &GROUPS[G], reader) => {
                // SAFETY: their function and state; the core's parameters.
                generation.inner = unsafe { init(state, selection, params) };
                false
            }
            _ => true,
        };
        if is_here && !generation.takes(reader) || !is_here && generation.inner.is_null() {
            return std::ptr::null_mut();
        }
        Box::into_raw(Box::new(generation)).cast()
    })
}

unsafe extern "C" fn gen_set_params(generation: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (generation, reader) = unsafe { (Generation::of(generation), Reader::new(params)) };
        match generation.theirs() {
            Some(theirs) => delegate!(theirs.gen_set_params, generation.inner, params),
            None => c_int::from(generation.takes(reader)),
        }
    })
}

unsafe extern "C" fn generate(
    generation: *mut c_void,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let generation = unsafe { Generation::of(generation) };
        let (provider, index) = (generation.provider(), generation.index);
        if let Some(theirs) = generation.theirs() {
            let key: *mut c_void = delegate!(theirs.generate, generation.inner, callback, arg);
            // SAFETY: just made by these functions.
            return unsafe { HybridKey::adopt_raw(provider, index, key) };
        }
        if !generation.is_pair {
            return HybridKey::empty(provider, index).into_raw();
        }
        match HybridKey::generate(provider, index) {
            Ok(key) => key.into_raw(),
            Err(refused) => {
                refuse(&refused);
                std::ptr::null_mut()
            }
        }
    })
}

unsafe extern "C" fn gen_cleanup(generation: *mut c_void) {
    boundary(|| {
        if generation.is_null() {
            return;
        }
        // SAFETY: made by `gen_init`, cleaned up once.
        let generation = unsafe { Box::from_raw(generation.cast::<Generation>()) };
        if let Some(cleanup) = generation.theirs().and_then(|theirs| theirs.gen_cleanup) {
            // SAFETY: made by their `gen_init`.
            unsafe { cleanup(generation.inner) };
        }
    })
}

unsafe extern "C" fn get_params(key: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let key = unsafe { HybridKey::of(key) };
        if let Some((functions, inner)) = key.theirs() {
            return delegate!(functions.get_params, inner, params);
        }
        let number = |name: &CStr, value: usize| {
            let value = c_int::try_from(value).unwrap_or(c_int::MAX);
            // SAFETY: the core's array.
            unsafe {
                let param = openssl_sys::OSSL_PARAM_locate(params, name.as_ptr());
                param.is_null() || ffi::OSSL_PARAM_set_int(param, value) == 1
            }
        };
        let octets = |name: &CStr| {
            // SAFETY: as above; the share outlives the call.
            unsafe {
                let param = openssl_sys::OSSL_PARAM_locate(params, name.as_ptr());
                param.is_null()
                    || key.share().is_some_and(|share| {
                        let at = share.as_ptr().cast();
                        ffi::OSSL_PARAM_set_octet_string(param, at, share.len()) == 1
                    })
            }
        };
        let bits = usize::try_from(key.group.security_bits).unwrap_or(0);
        let done = number(c"bits", bits)
            && number(c"security-bits", bits)
            && number(c"max-size", key.group.reply_len())
            && octets(c"encoded-pub-key")
            && octets(c"pub");
        c_int::from(done)
    })
}

/// A peer's share.
unsafe extern "C" fn set_params(key: *mut c_void, params: *const OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (key, reader) = unsafe { (HybridKey::of(key), Reader::new(params)) };
        if let Some((functions, inner)) = key.theirs() {
            return delegate!(functions.set_params, inner, params);
        }
        match reader.octets(c"encoded-pub-key") {
            Some(share) => key.set_share(share).map_or_else(|it| refuse(&it), |()| 1),
            None => 1,
        }
    })
}

unsafe extern "C" fn has(key: *mut c_void, selection: c_int) -> c_int {
    boundary(|| {
        if key.is_null() {
            return 0;
        }
        // SAFETY: see `operations`.
        let key = unsafe { HybridKey::of(key) };
        if let Some((functions, inner)) = key.theirs() {
            return delegate!(functions.has, inner, selection);
        }
        c_int::from(is_there(key, selection))
    })
}

/// A key that is held here was checked when its halves came.
unsafe extern "C" fn validate(key: *mut c_void, selection: c_int, check: c_int) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let key = unsafe { HybridKey::of(key) };
        match key.theirs() {
            Some((functions, inner)) => delegate!(functions.validate, inner, selection, check),
            None => c_int::from(is_there(key, selection)),
        }
    })
}

/// Whether a key that is held here has the halves of `selection`.
fn is_there(key: &HybridKey, selection: c_int) -> bool {
    let public = selection & SELECT_PUBLIC == 0 || key.share().is_some();
    let secret = selection & SELECT_PRIVATE == 0 || key.has_secret();
    public && secret
}

/// Whether two keys are the same: of secret halves their public ones tell.
unsafe extern "C" fn matches(one: *mut c_void, other: *mut c_void, selection: c_int) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (one, other) = unsafe { (HybridKey::of(one), HybridKey::of(other)) };
        if let (Some((functions, one)), Some((_, other))) = (one.theirs(), other.theirs()) {
            return delegate!(functions.matches, one, other, selection);
        }
        let is_group = std::ptr::eq(one.group, other.group);
        let is_same = one.share().is_some() && one.share() == other.share();
        c_int::from(is_group && (selection & SELECT_KEYPAIR == 0 || is_same))
    })
}

unsafe extern "C" fn import(
    key: *mut c_void,
    selection: c_int,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let (key, reader) = unsafe { (HybridKey::of(key), Reader::new(params)) };
        if let Some((functions, inner)) = key.theirs() {
            return delegate!(functions.import, inner, selection, params);
        }
        let name = key.group.as_str();
        if selection & SELECT_PRIVATE != 0 && reader.has(c"priv") {
            let message =
                format!("{name}: secret halves cannot be imported; generate the key here");
            raise_as(Reason::NotSupported, &message);
            return 0;
        }
        match reader
            .octets(c"pub")
            .filter(|_| selection & SELECT_PUBLIC != 0)
        {
            Some(share) => key.set_share(share).map_or_else(|it| refuse(&it), |()| 1),
            None => {
                raise_as(
                    Reason::MissingKey,
                    &format!("{name}: no public half to import"),
                );
                0
            }
        }
    })
}

unsafe extern "C" fn export(
    key: *mut c_void,
    selection: c_int,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let key = unsafe { HybridKey::of(key) };
        if let Some((functions, inner)) = key.theirs() {
            return delegate!(functions.export, inner, selection, callback, arg);
        }
        let name = key.group.as_str();
        if selection & SELECT_PRIVATE != 0 && key.has_secret() {
            let message = format!("{name}: secret halves are not exported");
            raise_as(Reason::NotSupported, &message);
            return 0;
        }
        let share = key.share().filter(|_| selection & SELECT_PUBLIC != 0);
        let (Some(share), Some(callback)) = (share, callback) else {
            raise_as(
                Reason::MissingKey,
                &format!("{name}: no public half to export"),
            );
            return 0;
        };
        let params = Given::<2>::new().octets(c"pub", share);
        // SAFETY: a terminated array that lasts for the call; the core's function and argument.
        unsafe { callback(params.as_ptr(), arg) }
    })
}

/// A list of parameters.
struct List<const N: usize>([OSSL_PARAM; N]);

// SAFETY: tables of constants.
unsafe impl<const N: usize> Sync for List<N> {}

const fn entry(key: &'static CStr, data_type: u32) -> OSSL_PARAM {
    OSSL_PARAM {
        key: key.as_ptr(),
        data_type,
        ..END
    }
}

unsafe extern "C" fn gettable_params<const G: usize>(provctx: *mut c_void) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let theirs = unsafe { Provider::of(provctx) }.theirs();
        if let Some(list) = theirs.hybrid_keymgmt[G].gettable_params {
            // SAFETY: their function and state.
            return unsafe { list(theirs.state) };
        }
        static LIST: List<6> = List([
            entry(c"bits", kind::INTEGER),
            entry(c"security-bits", kind::INTEGER),
            entry(c"max-size", kind::INTEGER),
            entry(c"encoded-pub-key", kind::OCTET_STRING),
            entry(c"pub", kind::OCTET_STRING),
            END,
        ]);
        LIST.0.as_ptr()
    })
}

unsafe extern "C" fn settable_params<const G: usize>(provctx: *mut c_void) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let theirs = unsafe { Provider::of(provctx) }.theirs();
        if let Some(list) = theirs.hybrid_keymgmt[G].settable_params {
            // SAFETY: their function and state.
            return unsafe { list(theirs.state) };
        }
        static LIST: List<2> = List([entry(c"encoded-pub-key", kind::OCTET_STRING), END]);
        LIST.0.as_ptr()
    })
}

unsafe extern "C" fn gen_settable_params<const G: usize>(
    generation: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`; null where the core asks about the group.
        let (theirs, generation) = unsafe {
            let generation = generation.cast::<Generation>().as_ref();
            (Provider::of(provctx).theirs(), generation)
        };
        if let Some(list) = theirs.hybrid_keymgmt[G].gen_settable_params {
            let inner = generation.map_or(std::ptr::null_mut(), |it| it.inner);
            // SAFETY: their function, state and generation, or null.
            return unsafe { list(inner, theirs.state) };
        }
        static LIST: List<2> = List([entry(c"group", kind::UTF8_STRING), END]);
        LIST.0.as_ptr()
    })
}

unsafe extern "C" fn types(selection: c_int) -> *const OSSL_PARAM {
    boundary(|| {
        static LIST: List<2> = List([entry(c"pub", kind::OCTET_STRING), END]);
        match selection & SELECT_PUBLIC {
            0 => std::ptr::null(),
            _ => LIST.0.as_ptr(),
        }
    })
}
