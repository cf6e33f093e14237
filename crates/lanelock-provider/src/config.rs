//! Parameters from the provider's section of openssl.cnf, each with a default, and the switch in the
//! environment.

use std::ffi::{CStr, c_char};
use std::time::Duration;

use crate::algorithms::Algorithms;
use crate::ffi::functions::Core;
use crate::ffi::params::END;
use crate::ffi::{CoreHandle, OSSL_PARAM, kind};

/// The environment variable that switches the provider off, whatever the section says, unless it is
/// empty or `0`. It is not read in a privileged program.
const DISABLE: &str = "LANELOCK_DISABLE";

/// What the section says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Config {
    /// Whether anything is offered at all.
    pub enabled: bool,
    /// What runs in lanes.
    pub algorithms: Algorithms,
    /// How long a paused operation waits for others to fill its batch. Zero is until the
    /// application's event loop comes round to it.
    pub deadline: Duration,
    /// Whether servers without an asynchronous mode get one, if the module is preloaded.
    pub event_loop: Mode,
    /// Whether operations of threads that wait for them run together.
    pub threads: Mode,
}

/// Whether something is done unasked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Never.
    Off,
    /// Where it does no harm.
    Auto,
    /// Always.
    On,
}

/// Longest deadline, in µs: past it a client has given up.
const LONGEST: u64 = 1_000_000;

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            algorithms: Algorithms::ALL,
            deadline: Duration::ZERO,
            event_loop: Mode::Auto,
            threads: Mode::Auto,
        }
    }
}

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
        let value = |name| unsafe { parameter(handle, core, name) };
        let mut config = Self::default();
        if let Some(text) = value(c"enabled") {
            config.enabled = enabled(&text)?;
        }
        if let Some(text) = value(c"algorithms") {
            config.algorithms = text.parse()?;
        }
        if let Some(text) = value(c"deadline") {
            config.deadline = deadline(&text)?;
        }
        if let Some(text) = value(c"event_loop") {
            config.event_loop = mode("event_loop", &text)?;
        }
        if let Some(text) = value(c"threads") {
            config.threads = mode("threads", &text)?;
        }
        Ok(config)
    }
}

/// Whether the environment switches the provider off.
pub(crate) fn is_disabled_by_environment() -> bool {
    let value = lanelock::engine::environment::variable(DISABLE);
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

fn enabled(text: &str) -> Result<bool, String> {
    match text.trim() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!(
            "enabled = {text}: use yes or no; the default is yes"
        )),
    }
}

fn mode(name: &str, text: &str) -> Result<Mode, String> {
    match text.trim() {
        "off" => Ok(Mode::Off),
        "auto" => Ok(Mode::Auto),
        "on" => Ok(Mode::On),
        _ => Err(format!(
            "{name} = {text}: use auto, on or off; the default is auto"
        )),
    }
}

fn deadline(text: &str) -> Result<Duration, String> {
    let value: Option<u64> = text.trim().parse().ok();
    let value = value.filter(|&microseconds| microseconds <= LONGEST);
    value.map(Duration::from_micros).ok_or_else(|| {
        format!(
            "deadline = {text}: use a number of microseconds from 0 to {LONGEST}; the default is \
             0, a batch at each turn of the event loop"
        )
    })
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
    fn a_deadline_is_microseconds() {
        let deadline = |text| deadline(text).map(|deadline| deadline.as_micros());
        assert_eq!(deadline(" 250 "), Ok(250));
        assert_eq!(deadline("1000000"), Ok(1_000_000));
        for wrong in ["", "-1", "1000001", "10ms", "1e3"] {
            let message = deadline(wrong).expect_err("refused");
            assert!(
                message.starts_with(&format!("deadline = {wrong}: ")),
                "{message}"
            );
        }
    }

    #[test]
    fn a_mode_is_one_of_three_words() {
        for (text, expected) in [(" auto", Mode::Auto), ("on", Mode::On), ("off", Mode::Off)] {
            assert_eq!(mode("threads", text), Ok(expected));
        }
        for wrong in ["", "yes", "1", "Auto"] {
            let message = mode("threads", wrong).expect_err("refused");
            let expected = format!("threads = {wrong}: use auto, on or off");
            assert!(message.starts_with(&expected), "{message}");
        }
    }

    #[test]
    fn it_is_enabled_or_not() {
        assert_eq!((enabled("yes"), enabled(" no")), (Ok(true), Ok(false)));
        for wrong in ["", "on", "1", "No"] {
            let message = enabled(wrong).expect_err("refused");
            let expected = format!("enabled = {wrong}: use yes or no");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
