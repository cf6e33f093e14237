//! The provider's state in one library context, and its functions for the core.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use crate::config::Config;
use crate::ffi::functions::{
    AsymCipher, Core, Keyexch, Keymgmt, ProviderFunctions, Signature, Table,
};
use crate::ffi::params::{END, Reader};
use crate::ffi::{
    self, Algorithm, Callback, CoreHandle, Dispatch, OSSL_LIB_CTX, OSSL_PARAM, OSSL_PROVIDER, kind,
    operation,
};
use crate::operations::{asym_cipher, keyexch, keymgmt, signature};

/// What is asked for with `provider=lanelock`.
const PROPERTIES: &CStr = c"provider=lanelock";

/// State in one library context. The core frees it after everything that was made from it.
pub(crate) struct Provider {
    child: NonNull<OSSL_LIB_CTX>,
    default: NonNull<OSSL_PROVIDER>,
    /// The default provider's own state, which its functions take.
    pub inner: *mut c_void,
    pub config: Config,
    pub keymgmt: [Keymgmt; KEYMGMT.len()],
    pub signature: [Signature; SIGNATURE.len()],
    pub keyexch: [Keyexch; KEYEXCH.len()],
    pub asym_cipher: [AsymCipher; ASYM_CIPHER.len()],
    offered: [Offered; 4],
}

/// The algorithms of one operation.
struct Offered {
    operation: c_int,
    /// What the default provider gave, to be given back.
    theirs: *const Algorithm,
    ours: Box<[Algorithm]>,
    _tables: Vec<Box<[Dispatch]>>,
}

/// Names as the default provider has them; the place of a name is its functions' parameter.
pub(crate) const KEYMGMT: [&CStr; 5] = [c"RSA", c"RSA-PSS", c"EC", c"ED25519", c"X25519"];
pub(crate) const SIGNATURE: [&CStr; 3] = [c"RSA", c"ECDSA", c"ED25519"];
pub(crate) const KEYEXCH: [&CStr; 2] = [c"ECDH", c"X25519"];
pub(crate) const ASYM_CIPHER: [&CStr; 1] = [c"RSA"];

impl Provider {
    /// Makes the state.
    ///
    /// # Safety
    /// `handle` and `core` are what the core gave to `OSSL_provider_init`.
    pub(crate) unsafe fn new(
        handle: *const CoreHandle,
        core: *const Dispatch,
    ) -> Result<Box<Self>, String> {
        // SAFETY: the caller's.
        let config = unsafe { Config::read(handle, &Core::read(core)) }?;
        // SAFETY: the caller's; null is checked.
        let child = NonNull::new(unsafe { ffi::OSSL_LIB_CTX_new_child(handle, core) })
            .ok_or("OSSL_LIB_CTX_new_child failed")?;
        // SAFETY: the child lives until `drop`; it shares the parent's default provider, and gets
        // one of its own where the parent has none.
        let default =
            unsafe { openssl_sys::OSSL_PROVIDER_load(child.as_ptr(), c"default".as_ptr()) };
        let Some(default) = NonNull::new(default) else {
            // SAFETY: made above, used by nothing.
            unsafe { openssl_sys::OSSL_LIB_CTX_free(child.as_ptr()) };
            return Err("the default provider, to which it delegates, cannot be loaded".into());
        };
        // SAFETY: loaded above.
        let inner = unsafe { ffi::OSSL_PROVIDER_get0_provider_ctx(default.as_ptr()) };
        let mut provider = Box::new(Self {
            child,
            default,
            inner,
            config,
            keymgmt: Default::default(),
            signature: Default::default(),
            keyexch: Default::default(),
            asym_cipher: Default::default(),
            offered: [
                Offered::none(operation::KEYMGMT),
                Offered::none(operation::SIGNATURE),
                Offered::none(operation::KEYEXCH),
                Offered::none(operation::ASYM_CIPHER),
            ],
        });
        provider.offer();
        Ok(provider)
    }

    /// Takes the default provider's functions and puts this one's in front of them.
    fn offer(&mut self) {
        let [keymgmt, signature, keyexch, asym_cipher] = &mut self.offered;
        let default = self.default;
        keymgmt.fill(default, &KEYMGMT, &mut self.keymgmt, keymgmt::functions);
        signature.fill(
            default,
            &SIGNATURE,
            &mut self.signature,
            signature::functions,
        );
        keyexch.fill(default, &KEYEXCH, &mut self.keyexch, keyexch::functions);
        asym_cipher.fill(
            default,
            &ASYM_CIPHER,
            &mut self.asym_cipher,
            asym_cipher::functions,
        );
    }

    /// The state behind what the core passes.
    ///
    /// # Safety
    /// `provctx` is what `OSSL_provider_init` gave to the core, and has not been torn down; the
    /// reference is not kept beyond what was made from the state.
    pub(crate) unsafe fn of<'p>(provctx: *mut c_void) -> &'p Self {
        // SAFETY: the caller's.
        unsafe { &*provctx.cast() }
    }

    /// The provider's functions for the core.
    pub(crate) fn dispatch() -> *const Dispatch {
        static TABLE: std::sync::OnceLock<Functions> = std::sync::OnceLock::new();
        let table = TABLE.get_or_init(|| {
            let functions = ProviderFunctions {
                teardown: Some(teardown),
                gettable_params: Some(gettable_params),
                get_params: Some(get_params),
                query_operation: Some(query_operation),
                get_capabilities: Some(get_capabilities),
            };
            Functions(functions.write())
        });
        table.0.as_ptr()
    }
}

struct Functions(Box<[Dispatch]>);

// SAFETY: function pointers, never changed.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

impl Offered {
    fn none(operation: c_int) -> Self {
        Self {
            operation,
            theirs: std::ptr::null(),
            ours: Box::new([ALGORITHMS_END]),
            _tables: Vec::new(),
        }
    }

    /// Offers those of `names` that the default provider has, under all its names for them: its
    /// functions go to `theirs`, and `front` makes this provider's of them.
    fn fill<T: Table, const N: usize>(
        &mut self,
        default: NonNull<OSSL_PROVIDER>,
        names: &[&CStr; N],
        theirs: &mut [T; N],
        front: fn(usize, &T) -> T,
    ) {
        let mut no_cache = 0;
        // SAFETY: the provider is loaded; what it returns is null or terminated, and stays until
        // it is given back (`drop`).
        self.theirs = unsafe {
            ffi::OSSL_PROVIDER_query_operation(default.as_ptr(), self.operation, &raw mut no_cache)
        };
        let mut ours = Vec::new();
        let mut at = self.theirs;
        // SAFETY: as above; names are terminated strings, tables those of the operation.
        unsafe {
            while !at.is_null() && !(*at).names.is_null() {
                let aliases = CStr::from_ptr((*at).names).to_bytes();
                let first = aliases.split(|&byte| byte == b':').next();
                let index = names.iter().position(|name| Some(name.to_bytes()) == first);
                if let Some(index) = index {
                    theirs[index] = T::read((*at).implementation);
                    let table = front(index, &theirs[index]).write();
                    ours.push(Algorithm {
                        properties: PROPERTIES.as_ptr(),
                        implementation: table.as_ptr(),
                        ..*at
                    });
                    self._tables.push(table);
                }
                at = at.add(1);
            }
        }
        ours.push(ALGORITHMS_END);
        self.ours = ours.into();
    }
}

const ALGORITHMS_END: Algorithm = Algorithm {
    names: std::ptr::null(),
    properties: std::ptr::null(),
    implementation: std::ptr::null(),
    description: std::ptr::null(),
};

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: what `new` made, given back once; the core frees the state last.
        unsafe {
            for offered in &self.offered {
                ffi::OSSL_PROVIDER_unquery_operation(
                    self.default.as_ptr(),
                    offered.operation,
                    offered.theirs,
                );
            }
            openssl_sys::OSSL_PROVIDER_unload(self.default.as_ptr());
            openssl_sys::OSSL_LIB_CTX_free(self.child.as_ptr());
        }
    }
}

unsafe extern "C" fn teardown(provctx: *mut c_void) {
    // SAFETY: made by `OSSL_provider_init`, torn down once.
    drop(unsafe { Box::from_raw(provctx.cast::<Provider>()) });
}

unsafe extern "C" fn query_operation(
    provctx: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    // SAFETY: the core's own.
    let provider = unsafe { Provider::of(provctx) };
    // SAFETY: as above.
    unsafe { *no_cache = 0 };
    let mut offered = provider.offered.iter();
    let found = offered.find(|offered| offered.operation == operation);
    found.map_or(std::ptr::null(), |offered| offered.ours.as_ptr())
}

/// Groups of TLS are the provider's whose keys they are made of: libssl takes no others.
unsafe extern "C" fn get_capabilities(
    provctx: *mut c_void,
    capability: *const c_char,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: the core's own.
    let provider = unsafe { Provider::of(provctx) };
    // SAFETY: a terminated string of the core's.
    if unsafe { CStr::from_ptr(capability) } != c"TLS-GROUP" {
        return 1;
    }
    let mut taker = Taker { callback, arg };
    // SAFETY: the provider is loaded; the taker outlives the call, and takes what is given.
    unsafe {
        ffi::OSSL_PROVIDER_get_capabilities(
            provider.default.as_ptr(),
            capability,
            Some(take_group),
            std::ptr::from_mut(&mut taker).cast(),
        )
    }
}

/// Who asked for capabilities.
struct Taker {
    callback: Option<Callback>,
    arg: *mut c_void,
}

unsafe extern "C" fn take_group(params: *const OSSL_PARAM, taker: *mut c_void) -> c_int {
    // SAFETY: what `get_capabilities` passed; the array lasts for this call.
    let (taker, reader) = unsafe { (&*taker.cast::<Taker>(), Reader::new(params)) };
    let ours = |name: &str| {
        KEYMGMT
            .iter()
            .any(|known| known.to_bytes() == name.as_bytes())
    };
    match (taker.callback, reader.text(c"tls-group-alg")) {
        // SAFETY: the core's own function and argument.
        (Some(callback), Some(name)) if ours(name) => unsafe { callback(params, taker.arg) },
        _ => 1,
    }
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("it has no inner zero"),
    };

struct Gettable([OSSL_PARAM; 5]);

// SAFETY: a table of constants.
unsafe impl Sync for Gettable {}

static GETTABLE: Gettable = {
    const fn entry(key: &'static CStr, data_type: u32) -> OSSL_PARAM {
        OSSL_PARAM {
            key: key.as_ptr(),
            data_type,
            ..END
        }
    }
    Gettable([
        entry(c"name", kind::UTF8_PTR),
        entry(c"version", kind::UTF8_PTR),
        entry(c"buildinfo", kind::UTF8_PTR),
        entry(c"status", kind::INTEGER),
        END,
    ])
};

unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const OSSL_PARAM {
    GETTABLE.0.as_ptr()
}

unsafe extern "C" fn get_params(_: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    let text = |key: &CStr, value: &CStr| {
        let value: *const c_char = value.as_ptr();
        // SAFETY: the core's array; the string is static.
        unsafe {
            let param = openssl_sys::OSSL_PARAM_locate(params, key.as_ptr());
            param.is_null() || ffi::OSSL_PARAM_set_utf8_ptr(param, value) == 1
        }
    };
    let done =
        text(c"name", c"lanelock") && text(c"version", VERSION) && text(c"buildinfo", VERSION);
    // SAFETY: as above.
    let status = unsafe {
        let param = openssl_sys::OSSL_PARAM_locate(params, c"status".as_ptr());
        param.is_null() || ffi::OSSL_PARAM_set_int(param, 1) == 1
    };
    c_int::from(done && status)
}
