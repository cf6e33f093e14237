//! The provider's functions for the core (provider-base(7)).

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::algorithms::Algorithms;
use crate::ffi::boundary::boundary;
use crate::ffi::functions::ProviderFunctions;
use crate::ffi::params::Reader;
use crate::ffi::{Algorithm, Callback, OSSL_PARAM};
use crate::hybrid::{GROUPS, Group};
use crate::provider::Provider;
use crate::status::{get_params, gettable_params};

/// The table's functions.
pub(crate) fn functions() -> ProviderFunctions {
    ProviderFunctions {
        teardown: Some(teardown),
        gettable_params: Some(gettable_params),
        get_params: Some(get_params),
        query_operation: Some(query_operation),
        get_capabilities: Some(get_capabilities),
        ..ProviderFunctions::default()
    }
}

unsafe extern "C" fn teardown(provctx: *mut c_void) {
    boundary(|| {
        // SAFETY: made by `OSSL_provider_init`, torn down once, after everything made from it.
        unsafe { Provider::free(provctx.cast()) };
    });
}

/// Without an active default provider there is nothing, for now: the core is to ask again.
unsafe extern "C" fn query_operation(
    provctx: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    boundary(|| {
        // SAFETY: the core's own.
        let active = unsafe { Provider::of(provctx) }.to_offer();
        // SAFETY: as above.
        unsafe { *no_cache = c_int::from(active.is_none()) };
        active.map_or(std::ptr::null(), |theirs| theirs.offered(operation))
    })
}

/// Groups of TLS are the provider's whose keys they are made of: libssl takes no others. Combined ones
/// of [`GROUPS`] that the default provider has not are described here.
unsafe extern "C" fn get_capabilities(
    provctx: *mut c_void,
    capability: *const c_char,
    callback: Option<Callback>,
    arg: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: the core's own.
        let provider = unsafe { Provider::of(provctx) };
        // SAFETY: a terminated string of the core's.
        let is_groups = unsafe { CStr::from_ptr(capability) } == c"TLS-GROUP";
        let (true, Some(theirs)) = (is_groups, provider.active()) else {
            return 1;
        };
        let mut taker = Taker {
            callback,
            arg,
            algorithms: provider.config.algorithms,
            has_hybrids: theirs.has_hybrids(),
            seen: [false; GROUPS.len()],
        };
        let at = std::ptr::from_mut(&mut taker).cast();
        // SAFETY: the taker outlives the call, and is what `take_group` takes.
        if unsafe { theirs.capabilities(capability, take_group, at) } != 1 {
            return 0;
        }
        let (true, Some(callback)) = (taker.has_hybrids, callback) else {
            return 1;
        };
        let mut missing = GROUPS
            .iter()
            .zip(taker.seen)
            .filter(|(group, seen)| group.curve.is_some() && !seen);
        // SAFETY: the core's own function and argument.
        c_int::from(missing.all(|(group, _)| unsafe { group.announce(callback, arg) } == 1))
    })
}

/// Who asked for capabilities.
struct Taker {
    callback: Option<Callback>,
    arg: *mut c_void,
    algorithms: Algorithms,
    has_hybrids: bool,
    /// Which of [`GROUPS`] the default provider has.
    seen: [bool; GROUPS.len()],
}

unsafe extern "C" fn take_group(params: *const OSSL_PARAM, taker: *mut c_void) -> c_int {
    boundary(|| {
        // SAFETY: what `get_capabilities` passed; the array lasts for this call.
        let (taker, reader) = unsafe { (&mut *taker.cast::<Taker>(), Reader::new(params)) };
        let hybrid = reader
            .text(c"tls-group-alg")
            .and_then(|name| Group::named(name.as_bytes()));
        if let Some(hybrid) = hybrid {
            taker.seen[hybrid] = true;
        }
        let ours = |name: &str| match hybrid {
            Some(_) => taker.has_hybrids,
            None => taker.algorithms.has_keys(name.as_bytes()),
        };
        match (taker.callback, reader.text(c"tls-group-alg")) {
            // SAFETY: the core's own function and argument.
            (Some(callback), Some(name)) if ours(name) => unsafe { callback(params, taker.arg) },
            _ => 1,
        }
    })
}
