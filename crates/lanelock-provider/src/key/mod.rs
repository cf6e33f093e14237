//! A key: the default provider's own, and the sessions that run its operations in lanes.

mod import;
mod sessions;

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use lanelock::public_key::{
    Curve, EncryptionScheme, KeyDevice, KeyError, KeySession, KeyTransform, MessageForm,
    SignatureScheme,
};

use crate::batch::{self, device};
use crate::combine;
use crate::ffi::functions::{Keymgmt, Wrapper};
use crate::lasting::Retry;
use crate::provider::Provider;
use crate::spare::Pair;
use sessions::Sessions;

pub(crate) use import::curve;

/// What the core holds as a key; contexts share it.
pub(crate) struct Key {
    provider: *const Provider,
    index: usize,
    /// The default provider's key.
    pub inner: *mut c_void,
    sessions: Sessions,
    /// When a session that could not be made is tried again.
    retry: Retry,
    /// Whether it is of P-384, once that has been asked: see [`Key::is_p384`].
    is_p384: AtomicU8,
}

// SAFETY: keys of providers are shared between threads as libcrypto's are: it reads them from
// many, and changes them only while nobody else has them.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

/// What a session is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Use {
    Sign(SignatureScheme, MessageForm),
    Decrypt(EncryptionScheme),
    Derive,
}

/// That nobody has asked what a key's curve is.
const NOT_KNOWN: u8 = 2;

/// Something that a session needs could not be had, which may be another time.
struct NotNow;

impl Key {
    /// Takes over `inner`, a key of algorithm `index`.
    ///
    /// # Safety
    /// `inner` is a key that the default provider of `provider` made for this algorithm, or null.
    pub(crate) unsafe fn adopt(
        provider: *const Provider,
        index: usize,
        inner: *mut c_void,
    ) -> Option<Arc<Self>> {
        (!inner.is_null()).then(|| {
            Arc::new(Self {
                provider,
                index,
                inner,
                sessions: Sessions::default(),
                retry: Retry::of_the_system(),
                is_p384: AtomicU8::new(NOT_KNOWN),
            })
        })
    }

    /// A key of algorithm `index` from a generated pair; `None` if the default provider takes none.
    ///
    /// # Safety
    /// `provider` is alive.
    pub(crate) unsafe fn import(
        provider: *const Provider,
        index: usize,
        pair: &Pair,
    ) -> Option<Arc<Self>> {
        // SAFETY: the caller's; the key is of these functions.
        unsafe {
            let theirs = (*provider).to_make_with()?;
            let inner = import::pair(&theirs.keymgmt[index], theirs.state, pair)?;
            Self::adopt(provider, index, inner)
        }
    }

    /// The key behind what the core passes, shared.
    ///
    /// # Safety
    /// `raw` came from [`Key::into_raw`] and the core has not freed it; or it is null.
    pub(crate) unsafe fn share(raw: *mut c_void) -> Option<Arc<Self>> {
        let raw: *const Self = raw.cast();
        // SAFETY: the caller's; the count is raised for the clone.
        (!raw.is_null()).then(|| unsafe {
            Arc::increment_strong_count(raw);
            Arc::from_raw(raw)
        })
    }

    /// The key behind what the core passes.
    ///
    /// # Safety
    /// As [`Key::share`]; and it is not null, nor used after the call that passed it.
    pub(crate) unsafe fn of<'k>(raw: *const c_void) -> &'k Self {
        // SAFETY: the caller's.
        unsafe { &*raw.cast() }
    }

    /// The key as the core holds it.
    pub(crate) fn into_raw(key: Option<Arc<Self>>) -> *mut c_void {
        key.map_or(std::ptr::null_mut(), |key| {
            Arc::into_raw(key).cast_mut().cast()
        })
    }

    pub(crate) fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state after every key.
        unsafe { &*self.provider }
    }

    pub(crate) fn functions(&self) -> &Keymgmt {
        &self.provider().theirs().keymgmt[self.index]
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The key has been changed: its sessions are another's.
    pub(crate) fn forget_sessions(&self) {
        self.is_p384.store(NOT_KNOWN, Ordering::Relaxed);
        self.sessions.forget();
    }

    /// The session for `usage`, made at its first use; `None` if there are no lanes for it, or none
    /// can be made now.
    pub(crate) fn session(&self, usage: Use) -> Option<KeySession> {
        if let Some(known) = self.sessions.find(usage) {
            return known;
        }
        if !self.retry.is_due() {
            return None;
        }
        let open = || self.open(usage);
        let opened = match batch::inside_job() {
            true => batch::on_large_stack(open),
            false => combine::on_large_stack(open),
        };
        match opened {
            Some(Ok(session)) => {
                self.sessions.push(usage, session.clone());
                session
            }
            Some(Err(NotNow)) | None => {
                self.retry.failed();
                None
            }
        }
    }

    fn open(&self, usage: Use) -> Result<Option<KeySession>, NotNow> {
        // Keys to derive with are mostly for one use, and agreement reveals nothing of a key whose
        // public half is another's; a signature does.
        let secret = import::secret(self, usage != Use::Derive).map_err(|_| NotNow)?;
        let Some(secret) = secret else {
            return Ok(None);
        };
        let device = device().ok_or(NotNow)?;
        let transform = match usage {
            Use::Sign(scheme, MessageForm::Message) => KeyTransform::sign(scheme, &secret),
            Use::Sign(scheme, MessageForm::Digest) => KeyTransform::sign(scheme, &secret).digest(),
            Use::Decrypt(scheme) => KeyTransform::decrypt(scheme, &secret),
            Use::Derive => KeyTransform::derive(&secret),
        };
        match device.key_session_on("native", &transform) {
            Ok(session) => Ok(Some(session)),
            Err(KeyError::Engine { .. }) => Err(NotNow),
            // Not with this key.
            Err(_) => Ok(None),
        }
    }

    /// Whether its curve is P-384.
    pub(crate) fn is_p384(&self) -> bool {
        match self.is_p384.load(Ordering::Relaxed) {
            NOT_KNOWN => {
                let group = self.plain_group();
                let is = group.is_some_and(|group| curve(&group) == Some(Curve::P384));
                self.is_p384.store(is.into(), Ordering::Relaxed);
                is
            }
            known => known == 1,
        }
    }

    /// See [`import::plain_group`].
    pub(crate) fn plain_group(&self) -> Option<String> {
        import::plain_group(self)
    }

    /// The public key as peers send it: a point or a string of bytes.
    pub(crate) fn public_bytes(&self) -> Option<Vec<u8>> {
        import::public_bytes(self)
    }
}

impl Wrapper for Key {
    type Table = Keymgmt;

    unsafe fn unwrap<'w>(raw: *mut c_void) -> (&'w Keymgmt, *mut c_void) {
        // SAFETY: the caller's.
        let key = unsafe { Self::of(raw) };
        (key.functions(), key.inner)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if let Some(free) = self.functions().free {
            // SAFETY: adopted once, freed once, by the provider that made it.
            unsafe { free(self.inner) };
        }
    }
}
