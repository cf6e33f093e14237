//! Parameters from the provider's section of openssl.cnf. Each has a default.

use std::ffi::{CStr, c_char};
use std::time::Duration;

use crate::ffi::functions::Core;
use crate::ffi::params::END;
use crate::ffi::{CoreHandle, OSSL_PARAM, kind};

/// What the section says.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Config {
    /// How long a paused operation waits for others to fill its batch. Zero is until the
    /// application's event loop comes round to it.
    pub deadline: Duration,
}

/// Longest deadline, in µs: past it a client has given up.
const LONGEST: u64 = 1_000_000;

const DEADLINE: &CStr = c"deadline";

impl Config {
    /// Reads the section.
    ///
    /// # Errors
    /// A sentence that names the parameter, its value and what it may be.
    ///
    /// # Safety
    /// `handle` and `core` are what the core gave to `OSSL_provider_init`.
    pub(crate) unsafe fn read(handle: *const CoreHandle, core: &Core) -> Result<Self, String> {
        // SAFETY: as this function's.
        let deadline = unsafe { parameter(handle, core, DEADLINE) };
        Self::parse(deadline.as_deref())
    }

    fn parse(deadline: Option<&str>) -> Result<Self, String> {
        let Some(text) = deadline else {
            return Ok(Self::default());
        };
        let value: Option<u64> = text.trim().parse().ok();
        match value.filter(|&microseconds| microseconds <= LONGEST) {
            Some(microseconds) => Ok(Self {
                deadline: Duration::from_micros(microseconds),
            }),
            None => Err(format!(
                "deadline = {text}: it is a number of microseconds from 0 to {LONGEST}; leave it \
                 out for 0, a batch at each turn of the event loop"
            )),
        }
    }
}

/// The value of one parameter of the section, if it is there.
///
/// # Safety
/// As [`Config::read`].
unsafe fn parameter(handle: *const CoreHandle, core: &Core, name: &CStr) -> Option<String> {
    let mut value: *const c_char = std::ptr::null();
    let mut params = [
        OSSL_PARAM {
            key: name.as_ptr(),
            data_type: kind::UTF8_PTR,
            data: std::ptr::from_mut(&mut value).cast(),
            data_size: 0,
            return_size: usize::MAX,
        },
        END,
    ];
    // SAFETY: the array is terminated, its entry points to a pointer; the core sets that to a
    // string of the configuration, or leaves it.
    unsafe {
        core.get_params?(handle, params.as_mut_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_microseconds_and_may_be_left_out() {
        let deadline = |text| Config::parse(text).map(|config| config.deadline.as_micros());
        assert_eq!(deadline(None), Ok(0));
        assert_eq!(deadline(Some(" 250 ")), Ok(250));
        assert_eq!(deadline(Some("1000000")), Ok(1_000_000));
        for wrong in ["", "-1", "1000001", "10ms", "1e3"] {
            let message = deadline(Some(wrong)).expect_err("refused");
            assert!(
                message.starts_with(&format!("deadline = {wrong}: ")),
                "{message}"
            );
        }
    }
}
