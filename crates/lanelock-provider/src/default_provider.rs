//! The application's own default provider, which everything is delegated to.
//!
//! Its functions are called with its own state, in the application's library context: what they do is
//! what they would do without this provider, to random numbers, properties and other providers'
//! digests. It is the application that activates and unloads it. A reference keeps its state for the
//! keys that wrap its keys, and does not keep it active.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::algorithms::{Algorithm as Choice, Algorithms};
use crate::ffi::functions::{
    AsymCipher, Core, Kem, Keyexch, Keymgmt, ProviderFunctions, Signature, Table,
};
use crate::ffi::{Algorithm, Callback, CoreHandle, Dispatch, operation};
use crate::hybrid::{self, GROUPS};
use crate::operations::{asym_cipher, hybrid_keymgmt, kem, keyexch, keymgmt, signature};

/// What is asked for with `provider=lanelock`.
const PROPERTIES: &CStr = c"provider=lanelock";

/// Names as the default provider has them; the place of a name is its functions' parameter.
pub(crate) const KEYMGMT: [&CStr; 5] = [c"RSA", c"RSA-PSS", c"EC", c"ED25519", c"X25519"];
pub(crate) const SIGNATURE: [&CStr; 3] = [c"RSA", c"ECDSA", c"ED25519"];
pub(crate) const KEYEXCH: [&CStr; 2] = [c"ECDH", c"X25519"];
pub(crate) const ASYM_CIPHER: [&CStr; 1] = [c"RSA"];

/// Its state and functions, and this provider's in front of them.
pub(crate) struct DefaultProvider {
    /// What the core calls it by.
    pub handle: *const CoreHandle,
    /// Its own state, which its functions take.
    pub state: *mut c_void,
    pub keymgmt: [Keymgmt; KEYMGMT.len()],
    pub signature: [Signature; SIGNATURE.len()],
    pub keyexch: [Keyexch; KEYEXCH.len()],
    pub asym_cipher: [AsymCipher; ASYM_CIPHER.len()],
    /// Those for [`GROUPS`]: without any function for what it does not have.
    pub hybrid_keymgmt: [Keymgmt; GROUPS.len()],
    pub hybrid_kem: [Kem; GROUPS.len()],
    functions: ProviderFunctions,
    offered: [Offered; 5],
}

/// The algorithms of one operation.
struct Offered {
    operation: c_int,
    /// What the default provider gave, to be given back.
    theirs: *const Algorithm,
    ours: Box<[Algorithm]>,
    _tables: Vec<Box<[Dispatch]>>,
}

impl DefaultProvider {
    /// Whether this is the default provider.
    ///
    /// # Safety
    /// `handle` is a provider that the core passes, `core` the core's functions.
    pub(crate) unsafe fn is_named(core: &Core, handle: *const CoreHandle) -> bool {
        // SAFETY: the caller's; names are terminated strings.
        core.provider_name
            .is_some_and(|name| unsafe { CStr::from_ptr(name(handle)) } == c"default")
    }

    /// Takes a reference and its functions; `None` if the core refuses one of them.
    ///
    /// # Safety
    /// As [`Self::is_named`]; it is active. [`Self::release`] gives the reference back.
    pub(crate) unsafe fn take(
        core: &Core,
        handle: *const CoreHandle,
        algorithms: Algorithms,
    ) -> Option<Box<Self>> {
        let functions = (core.up_ref?, core.get0_provider_ctx?, core.get0_dispatch?);
        let (up_ref, get_state, get_dispatch) = functions;
        // SAFETY: the caller's; the state and the table live as long as the provider.
        let (state, functions) = unsafe {
            if up_ref(handle, 0) == 0 {
                return None;
            }
            let functions = ProviderFunctions::read(get_dispatch(handle).cast());
            (get_state(handle), functions)
        };
        let mut taken = Box::new(Self {
            handle,
            state,
            functions,
            keymgmt: Default::default(),
            signature: Default::default(),
            keyexch: Default::default(),
            asym_cipher: Default::default(),
            hybrid_keymgmt: Default::default(),
            hybrid_kem: Default::default(),
            offered: [
                Offered::none(operation::KEYMGMT),
                Offered::none(operation::SIGNATURE),
                Offered::none(operation::KEYEXCH),
                Offered::none(operation::ASYM_CIPHER),
                Offered::none(operation::KEM),
            ],
        });
        taken.offer(algorithms);
        Some(taken)
    }

    /// Puts this provider's functions in front of those that the default provider has for keys of
    /// `algorithms`, and adds what is this provider's own.
    fn offer(&mut self, algorithms: Algorithms) {
        let has = |name: &CStr| algorithms.has_keys(keys_of(name));
        let [keymgmt, signature, keyexch, asym_cipher, kem] = &mut self.offered;
        let (query, state) = (self.functions.query_operation, self.state);
        let ask = |operation| {
            let mut no_cache = 0;
            // SAFETY: its own function and state; what it returns is null or terminated, and stays
            // until it is given back (`release`).
            query.map_or(std::ptr::null(), |query| unsafe {
                query(state, operation, &raw mut no_cache)
            })
        };
        for offered in [&mut *keymgmt, signature, keyexch, asym_cipher, kem] {
            offered.theirs = ask(offered.operation);
        }
        keymgmt.fill(has, &KEYMGMT, &mut self.keymgmt, keymgmt::functions);
        signature.fill(has, &SIGNATURE, &mut self.signature, signature::functions);
        keyexch.fill(has, &KEYEXCH, &mut self.keyexch, keyexch::functions);
        asym_cipher.fill(
            has,
            &ASYM_CIPHER,
            &mut self.asym_cipher,
            asym_cipher::functions,
        );
        let names = GROUPS.each_ref().map(|group| group.name);
        let has = |_: &CStr| algorithms.has(Choice::MlKem) && hybrid::is_available();
        let (keys, kems) = (&mut self.hybrid_keymgmt, &mut self.hybrid_kem);
        keymgmt.fill(has, &names, keys, hybrid_keymgmt::functions);
        kem.fill(has, &names, kems, kem::functions);
        for (index, group) in GROUPS.iter().enumerate() {
            let is_missing = keys[index].new.is_none() && kems[index].newctx.is_none();
            if is_missing && group.curve.is_some() && has(group.name) {
                keymgmt.add(
                    group.name,
                    hybrid_keymgmt::functions(index, &Keymgmt::default()).write(),
                );
                kem.add(group.name, kem::functions(index, &Kem::default()).write());
            }
        }
    }

    /// Whether keys of [`GROUPS`] are offered.
    pub(crate) fn has_hybrids(&self) -> bool {
        let kem = self
            .offered
            .iter()
            .find(|it| it.operation == operation::KEM);
        kem.is_some_and(|kem| kem.ours.len() > 1)
    }

    /// What is offered for an operation: null, or a terminated table that lives as long as this.
    pub(crate) fn offered(&self, operation: c_int) -> *const Algorithm {
        let mut offered = self.offered.iter();
        let found = offered.find(|offered| offered.operation == operation);
        found.map_or(std::ptr::null(), |offered| offered.ours.as_ptr())
    }

    /// Passes its capabilities to `callback`; 1 if that took all.
    ///
    /// # Safety
    /// `capability` is a terminated string; `arg` is what `callback` takes.
    pub(crate) unsafe fn capabilities(
        &self,
        capability: *const c_char,
        callback: Callback,
        arg: *mut c_void,
    ) -> c_int {
        // SAFETY: its own function and state; the caller's arguments.
        self.functions.get_capabilities.map_or(1, |get| unsafe {
            get(self.state, capability, Some(callback), arg)
        })
    }

    /// Gives everything back.
    ///
    /// # Safety
    /// `core` is what it was taken with; nothing that its functions made is left.
    pub(crate) unsafe fn release(&self, core: &Core) {
        // SAFETY: the caller's; given back once.
        unsafe {
            if let Some(unquery) = self.functions.unquery_operation {
                for offered in self.offered.iter().filter(|it| !it.theirs.is_null()) {
                    unquery(self.state, offered.operation, offered.theirs);
                }
            }
            if let Some(free) = core.free {
                free(self.handle, 0);
            }
        }
    }
}

/// The name of the keys that an operation of this name takes.
fn keys_of(name: &CStr) -> &[u8] {
    match name.to_bytes() {
        b"ECDSA" | b"ECDH" => b"EC",
        name => name,
    }
}

impl Offered {
    fn none(operation: c_int) -> Self {
        Self {
            operation,
            theirs: std::ptr::null(),
            ours: Box::new([ALGORITHMS_END]),
            _tables: Vec::new(),
        }
    }

    /// Offers those of `names` that the default provider has and `is_wanted` names too, under all its
    /// names for them: `front` makes this provider's functions of its own, which go to `theirs`
    /// whether they are wanted or not.
    fn fill<T: Table, const N: usize>(
        &mut self,
        is_wanted: impl Fn(&CStr) -> bool,
        names: &[&CStr; N],
        theirs: &mut [T; N],
        front: fn(usize, &T) -> T,
    ) {
        let mut at = self.theirs;
        // SAFETY: null or a terminated table; names are terminated strings, implementations tables
        // of the operation.
        unsafe {
            while !at.is_null() && !(*at).names.is_null() {
                let aliases = CStr::from_ptr((*at).names).to_bytes();
                let first = aliases.split(|&byte| byte == b':').next();
                let index = names.iter().position(|name| Some(name.to_bytes()) == first);
                if let Some(index) = index {
                    theirs[index] = T::read((*at).implementation);
                }
                if let Some(index) = index.filter(|&index| is_wanted(names[index])) {
                    self.push(*at, front(index, &theirs[index]).write());
                }
                at = at.add(1);
            }
        }
    }

    /// Offers one that the default provider does not have.
    fn add(&mut self, name: &'static CStr, table: Box<[Dispatch]>) {
        let algorithm = Algorithm {
            names: name.as_ptr(),
            ..ALGORITHMS_END
        };
        self.push(algorithm, table);
    }

    /// Offers `algorithm` with the functions of `table`.
    fn push(&mut self, algorithm: Algorithm, table: Box<[Dispatch]>) {
        let mut ours = std::mem::take(&mut self.ours).into_vec();
        ours.pop();
        ours.push(Algorithm {
            properties: PROPERTIES.as_ptr(),
            implementation: table.as_ptr(),
            ..algorithm
        });
        ours.push(ALGORITHMS_END);
        self.ours = ours.into();
        self._tables.push(table);
    }
}

const ALGORITHMS_END: Algorithm = Algorithm {
    names: std::ptr::null(),
    properties: std::ptr::null(),
    implementation: std::ptr::null(),
    description: std::ptr::null(),
};
