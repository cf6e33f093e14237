//! What the provider says of itself: `OSSL_PROVIDER_get_params`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use lanelock::telemetry::Inactive;

use crate::ffi::boundary::boundary;
use crate::ffi::params::END;
use crate::ffi::{self, OSSL_PARAM, kind};
use crate::lanes;
use crate::provider::Provider;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("it has no inner zero"),
    };

/// The sentences of `buildinfo`: callers keep pointers to them while the provider is loaded.
pub(crate) struct Status {
    active: CString,
    inactive: [CString; Inactive::ALL.len()],
}

impl Status {
    pub(crate) fn new() -> Self {
        let ifma = if lanes::is_ifma() { "yes" } else { "no" };
        let version = env!("CARGO_PKG_VERSION");
        let sentence = |state: &str| {
            CString::new(format!("{version}; avx512ifma: {ifma}; lanes: {state}"))
                .unwrap_or_default()
        };
        Self {
            active: sentence("active"),
            inactive: Inactive::ALL.map(|reason| sentence(&format!("inactive, {reason}"))),
        }
    }

    fn build_info(&self, inactive: Option<Inactive>) -> &CStr {
        let known = Inactive::ALL.iter().zip(&self.inactive);
        let mut known = known.filter(|(reason, _)| Some(**reason) == inactive);
        known.next().map_or(&self.active, |(_, text)| text)
    }
}

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

pub(crate) unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const OSSL_PARAM {
    boundary(|| GETTABLE.0.as_ptr())
}

/// `status` is 1 while there are lanes to run in: `openssl list -providers` prints "active" then.
pub(crate) unsafe extern "C" fn get_params(provctx: *mut c_void, params: *mut OSSL_PARAM) -> c_int {
    boundary(|| {
        // SAFETY: the core's own.
        let provider = unsafe { Provider::of(provctx) };
        let inactive = provider.inactive();
        let text = |key: &CStr, value: &CStr| {
            let value: *const c_char = value.as_ptr();
            // SAFETY: the core's array; the string lives as long as the provider.
            unsafe {
                let param = openssl_sys::OSSL_PARAM_locate(params, key.as_ptr());
                param.is_null() || ffi::OSSL_PARAM_set_utf8_ptr(param, value) == 1
            }
        };
        let done = text(c"name", c"lanelock")
            && text(c"version", VERSION)
            && text(c"buildinfo", provider.status.build_info(inactive));
        // SAFETY: as above.
        let status = unsafe {
            let param = openssl_sys::OSSL_PARAM_locate(params, c"status".as_ptr());
            let is_active = c_int::from(inactive.is_none());
            param.is_null() || ffi::OSSL_PARAM_set_int(param, is_active) == 1
        };
        c_int::from(done && status)
    })
}
