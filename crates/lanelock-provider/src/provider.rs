//! The provider's state in one library context: what it is set to, and the application's default
//! provider, which comes and goes as the application says.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use lanelock::public_key::{KeyKind, Operation};
use lanelock::telemetry::{Inactive, module};

use crate::algorithms::Algorithm;
use crate::batch;
use crate::config::{self, Config, Mode};
use crate::default_provider::DefaultProvider;
use crate::entry;
use crate::event_loop;
use crate::ffi::boundary::{boundary, raise};
use crate::ffi::functions::{Core, Table};
use crate::ffi::{CoreHandle, Dispatch};
use crate::lanes::{self, Lanes};
use crate::status::Status;

/// State in one library context. The core frees it after everything that was made from it.
pub(crate) struct Provider {
    handle: *const CoreHandle,
    core: Core,
    dispatch: Box<[Dispatch]>,
    pub config: Config,
    pub status: Status,
    /// Why nothing is offered, whatever the application activates.
    switched_off: Option<Inactive>,
    /// Those of the machine, or why there are none.
    lanes: Result<Lanes, Inactive>,
    default: OnceLock<Box<DefaultProvider>>,
    is_default_active: AtomicBool,
}

impl Provider {
    /// Makes the state, and finds the default provider if the application has activated it. The core
    /// and its callbacks share it from then on; [`Provider::free`] ends it.
    ///
    /// # Errors
    /// What is wrong with the configuration or refused by the core, in a sentence.
    ///
    /// # Safety
    /// `handle` and `core` are what the core gave to `OSSL_provider_init`.
    pub(crate) unsafe fn new(
        handle: *const CoreHandle,
        core: *const Dispatch,
    ) -> Result<*const Self, String> {
        // SAFETY: the caller's.
        let core = unsafe { Core::read(core) };
        // SAFETY: the caller's.
        let config = unsafe { Config::read(handle, &core) }?;
        let switched_off = match config.enabled {
            _ if config::is_disabled_by_environment() => Some(Inactive::Environment),
            false => Some(Inactive::Configuration),
            true => None,
        };
        let state = Box::into_raw(Box::new(Self {
            handle,
            core,
            dispatch: entry::functions().write(),
            config,
            status: Status::new(),
            switched_off,
            lanes: Lanes::of_machine(),
            default: OnceLock::new(),
            is_default_active: AtomicBool::new(false),
        }));
        // SAFETY: just made; it changes through shared references alone.
        let provider = unsafe { &*state };
        if switched_off.is_none()
            && let Err(message) = provider.watch()
        {
            // SAFETY: the core has not got it.
            unsafe { Self::free(state) };
            return Err(message);
        }
        if switched_off.is_none() {
            // Without lanes nothing would pause, and asynchronous mode costs each handshake a stack.
            event_loop::set_mode(match provider.has_lanes() {
                true => config.event_loop,
                false => Mode::Off,
            });
        }
        module::loaded();
        module::set_inactive(provider.switched_off.or(provider.lacking()));
        Ok(state)
    }

    /// Frees the state.
    ///
    /// # Safety
    /// It is from [`Provider::new`], and neither it nor anything made from it is used any more.
    pub(crate) unsafe fn free(state: *const Self) {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(state.cast_mut()) });
    }

    /// Has the core tell of the providers that are active, now and from now on.
    fn watch(&self) -> Result<(), String> {
        let register = self.core.register_child_cb;
        let register = register.ok_or("this libcrypto does not report other providers")?;
        // SAFETY: the core's own function; it calls back no more once `drop` has deregistered.
        let registered = unsafe {
            register(
                self.handle,
                Some(activated),
                Some(deactivated),
                Some(properties_changed),
                std::ptr::from_ref(self).cast_mut().cast(),
            )
        };
        if registered == 1 {
            Ok(())
        } else {
            Err("libcrypto cannot report the application's other providers: out of memory".into())
        }
    }

    /// The state that the core passes.
    ///
    /// # Safety
    /// `provctx` is what `OSSL_provider_init` gave to the core, and has not been torn down; the
    /// reference is not kept beyond what was made from the state.
    pub(crate) unsafe fn of<'p>(provctx: *mut c_void) -> &'p Self {
        // SAFETY: the caller's.
        unsafe { &*provctx.cast() }
    }

    /// The provider's functions for the core, which live as long as it.
    pub(crate) fn dispatch(&self) -> *const Dispatch {
        self.dispatch.as_ptr()
    }

    /// The default provider, for what it has made. Its functions are not offered before the
    /// application has activated it once.
    pub(crate) fn theirs(&self) -> &DefaultProvider {
        self.default.get().expect("offered after it was taken")
    }

    /// The default provider while the application has it active.
    pub(crate) fn active(&self) -> Option<&DefaultProvider> {
        let is_active = self.is_default_active.load(Ordering::Acquire);
        self.default.get().filter(|_| is_active).map(Box::as_ref)
    }

    /// The default provider while it is active, for what the core asks to be offered. If it is not,
    /// telemetry is told.
    pub(crate) fn to_offer(&self) -> Option<&DefaultProvider> {
        let active = self.active();
        if active.is_none() {
            module::set_inactive(self.inactive());
        }
        active
    }

    /// The default provider to make something new with; `None`, and an error on the queue, if the
    /// application has unloaded it since this provider's functions were fetched.
    pub(crate) fn to_make_with(&self) -> Option<&DefaultProvider> {
        let active = self.to_offer();
        if active.is_none() {
            raise("the application has unloaded the default provider, which lanelock needs");
        }
        active
    }

    /// Why nothing runs in lanes here; `None` if it does.
    pub(crate) fn inactive(&self) -> Option<Inactive> {
        if self.switched_off.is_some() {
            return self.switched_off;
        }
        match self.active() {
            None => Some(Inactive::NoDefaultProvider),
            Some(_) => self.lacking().or_else(lanes::refusal),
        }
    }

    /// Whether an operation of the caller's can join a batch: inside a job, chosen, and on a machine
    /// with lanes.
    pub(crate) fn can_join(&self, choice: Algorithm) -> bool {
        if !self.config.algorithms.has(choice) || !batch::can_join() {
            return false;
        }
        if !self.has_lanes() {
            module::missed();
        }
        self.has_lanes()
    }

    /// Whether an operation of a thread that waits for it can run with those of others.
    pub(crate) fn can_combine(&self, choice: Algorithm) -> bool {
        self.config.threads != Mode::Off && self.config.algorithms.has(choice) && self.has_lanes()
    }

    /// Whether there are lanes on this machine.
    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.is_ok()
    }

    /// Why there are none.
    fn lacking(&self) -> Option<Inactive> {
        self.lanes.as_ref().err().copied()
    }

    /// Whether a program's own job pauses for such an operation ([`Lanes::pay_for_pauses`]).
    pub(crate) fn pays_for_pauses(&self, kind: KeyKind, operation: Operation) -> bool {
        let lanes = self.lanes.as_ref();
        lanes.is_ok_and(|lanes| lanes.pay_for_pauses(kind, operation))
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: what `watch` registered and `activated` took; the core frees the state last.
        unsafe {
            if self.switched_off.is_none()
                && let Some(deregister) = self.core.deregister_child_cb
            {
                deregister(self.handle);
            }
            if let Some(default) = self.default.get() {
                default.release(&self.core);
            }
        }
    }
}

/// A provider is active. The core holds locks meanwhile: nothing here may ask for another provider or
/// fetch an algorithm.
unsafe extern "C" fn activated(
    handle: *const CoreHandle,
    provider: *mut c_void,
) -> std::ffi::c_int {
    boundary(|| {
        // SAFETY: what `watch` registered.
        let provider = unsafe { Provider::of(provider) };
        // SAFETY: the core's own.
        if !unsafe { DefaultProvider::is_named(&provider.core, handle) } {
            return 1;
        }
        if provider.default.get().is_none() {
            let algorithms = provider.config.algorithms;
            // SAFETY: as above; `drop` releases what was taken.
            let taken = unsafe { DefaultProvider::take(&provider.core, handle, algorithms) };
            if let Some(Err(one_too_many)) = taken.map(|taken| provider.default.set(taken)) {
                // SAFETY: just taken, used by nothing.
                unsafe { one_too_many.release(&provider.core) };
            }
        }
        // One that is activated again is the same; another's keys would not be its keys.
        if provider
            .default
            .get()
            .is_some_and(|known| known.handle == handle)
        {
            provider.is_default_active.store(true, Ordering::Release);
            module::set_inactive(provider.inactive());
        }
        1
    })
}

/// A provider is no longer active.
unsafe extern "C" fn deactivated(
    handle: *const CoreHandle,
    provider: *mut c_void,
) -> std::ffi::c_int {
    boundary(|| {
        // SAFETY: what `watch` registered.
        let provider = unsafe { Provider::of(provider) };
        if provider
            .default
            .get()
            .is_some_and(|known| known.handle == handle)
        {
            provider.is_default_active.store(false, Ordering::Release);
        }
        1
    })
}

/// The default provider's functions see the application's properties themselves.
unsafe extern "C" fn properties_changed(
    _: *const std::ffi::c_char,
    _: *mut c_void,
) -> std::ffi::c_int {
    boundary(|| 1)
}
