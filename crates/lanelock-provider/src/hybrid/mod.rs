//! ML-KEM, and the groups of TLS that combine it with a curve.
//!
//! From libcrypto 3.5 on the default provider has both. A key wraps its key then, and everything goes
//! on to it but exchanges inside of jobs, whose parts run in lanes side by side. A key for an exchange
//! of TLS that is made inside of a job is held here alone: the default provider would prepare it for
//! an exchange of its own.
//!
//! Before 3.5 all keys of the groups are held here. Outside of jobs ML-KEM is the native engine's
//! then, which every tier has, and the curve's part the default provider's.

mod curve;
mod exchange;
mod exported;
mod group;

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use lanelock::public_key::{
    KeyDevice, KeyError, KeyKind, KeyOp, KeySession, KeyTransform, PublicKey, SecretKey,
};
use lanelock_native::Native;
use zeroize::Zeroizing;

use crate::algorithms::Algorithm;
use crate::batch::{self, Bytes, device};
use crate::direct;
use crate::ffi::boundary::Reason;
use crate::ffi::functions::Keymgmt;
use crate::key::Key;
use crate::provider::Provider;
use crate::spare;

pub(crate) use exchange::{
    decapsulate_alone, decapsulate_in_lanes, encapsulate_alone, encapsulate_in_lanes,
};
pub(crate) use group::{GROUPS, Group, Parts};

/// Whether this machine has the engine that computes ML-KEM.
pub(crate) fn is_available() -> bool {
    matches!(Native::new(), Ok(Some(_)))
}

/// A key of a group: nothing yet, a peer's share, or both halves.
pub(crate) struct HybridKey {
    provider: *const Provider,
    index: usize,
    pub group: &'static Group,
    /// The default provider's key, which has the halves; null for one that is held here.
    inner: *mut c_void,
    /// Of the default provider's key what it has told: it does not change once it has a half.
    public: OnceLock<Public>,
    /// Likewise; `None` if the default provider does not tell.
    secret: OnceLock<Option<Arc<Secret>>>,
}

/// What peers are sent, and ML-KEM's session for it, once that was asked for.
#[derive(Clone)]
struct Public {
    share: Box<[u8]>,
    session: OnceLock<KeySession>,
}

/// The secret halves.
struct Secret {
    /// The decapsulation key.
    ml_kem: Bytes,
    session: OnceLock<KeySession>,
    /// `None` in ML-KEM by itself.
    curve: Option<Arc<Key>>,
}

// SAFETY: as a `Key`: libcrypto reads keys from many threads, and the parts that are filled in later
// are behind `OnceLock`.
unsafe impl Send for HybridKey {}
// SAFETY: as above.
unsafe impl Sync for HybridKey {}

/// Why something was refused: for the error queue.
#[derive(Debug)]
pub(crate) struct Refused(pub Reason, pub String);

impl HybridKey {
    /// A key of group `index` without either half, held here.
    pub(crate) fn empty(provider: *const Provider, index: usize) -> Self {
        Self::wrap(provider, index, std::ptr::null_mut())
    }

    /// Takes over `inner`, a key of group `index`; `None` for null.
    ///
    /// # Safety
    /// `inner` is a key that the default provider of `provider` made for this group, or null.
    pub(crate) unsafe fn adopt(
        provider: *const Provider,
        index: usize,
        inner: *mut c_void,
    ) -> Option<Self> {
        (!inner.is_null()).then(|| Self::wrap(provider, index, inner))
    }

    fn wrap(provider: *const Provider, index: usize, inner: *mut c_void) -> Self {
        Self {
            provider,
            index,
            group: &GROUPS[index],
            inner,
            public: OnceLock::new(),
            secret: OnceLock::new(),
        }
    }

    /// A new key pair, held here.
    ///
    /// # Errors
    /// The system or the default provider refuses something.
    pub(crate) fn generate(provider: &Provider, index: usize) -> Result<Self, Refused> {
        let made = Self::empty(provider, index);
        let group = made.group;
        let failed = |part: &str| {
            let message = format!("{}: no {part} key could be generated", group.as_str());
            Refused(Reason::Failed, message)
        };
        let (ml_kem, public) = ml_kem_pair(provider, group).ok_or_else(|| failed("ML-KEM"))?;
        let of_curve = |kind| {
            let key = curve_key(provider, kind)?;
            Some((key.public_bytes()?, key))
        };
        let (point, curve) = match group.curve.map(of_curve) {
            Some(Some((point, key))) => (point, Some(key)),
            Some(None) => return Err(failed(group.curve_name())),
            None => (Vec::new(), None),
        };
        let parts = Parts {
            ml_kem: &public,
            curve: &point,
        };
        Ok(Self {
            public: OnceLock::from(Public {
                share: group.join(parts).as_slice().into(),
                session: OnceLock::new(),
            }),
            secret: OnceLock::from(Some(Arc::new(Secret {
                ml_kem,
                session: OnceLock::new(),
                curve,
            }))),
            ..made
        })
    }

    /// A key that is held here again; without its halves unless they are asked for.
    pub(crate) fn copy(&self, with_public: bool, with_secret: bool) -> Self {
        let mut copy = Self::empty(self.provider, self.index);
        if with_public {
            copy.public = self.public.clone();
        }
        if with_secret {
            copy.secret = self.secret.clone();
        }
        copy
    }

    /// Makes this the key of a peer that sent `share`. Whether its point is on the curve is checked
    /// when it is used.
    ///
    /// # Errors
    /// A share of another length, a point that is not uncompressed, a coefficient out of range (FIPS
    /// 203, section 7.2), or a key that has a share already.
    pub(crate) fn set_share(&self, share: &[u8]) -> Result<(), Refused> {
        let group = self.group;
        let name = group.as_str();
        if self.public.get().is_some() || self.secret.get().is_some() {
            let message = format!("{name}: the key has a share already; use a new key");
            return Err(Refused(Reason::NotSupported, message));
        }
        let parts = group.split_share(share);
        let parts = parts.ok_or_else(|| wrong_form(group, "share", share, group.share_len()))?;
        let session = encapsulating(group, parts.ml_kem)?;
        let public = Public {
            share: share.into(),
            session: OnceLock::from(session),
        };
        self.public.set(public).map_err(|_| {
            let message = format!("{name}: two threads set the key's share at once");
            Refused(Reason::NotSupported, message)
        })
    }

    /// What peers are sent.
    pub(crate) fn share(&self) -> Option<&[u8]> {
        self.public().map(|public| &*public.share)
    }

    /// Whether a key that is held here has a secret half.
    pub(crate) fn has_secret(&self) -> bool {
        self.secret.get().is_some_and(Option::is_some)
    }

    fn public(&self) -> Option<&Public> {
        if self.public.get().is_none()
            && let Some(share) = exported::share(self)
        {
            // Another thread may have asked, too: it got the same.
            let _set = self.public.set(Public {
                share: share.into(),
                session: OnceLock::new(),
            });
        }
        self.public.get()
    }

    fn secret(&self) -> Option<&Arc<Secret>> {
        match self.theirs() {
            Some(_) => self
                .secret
                .get_or_init(|| exported::secret(self).map(Arc::new)),
            None => self.secret.get()?,
        }
        .as_ref()
    }

    /// The default provider's key, and its functions; `None` for a key that is held here.
    pub(crate) fn theirs(&self) -> Option<(&Keymgmt, *mut c_void)> {
        let is_here = self.inner.is_null();
        (!is_here).then(|| {
            (
                &self.provider().theirs().hybrid_keymgmt[self.index],
                self.inner,
            )
        })
    }

    pub(crate) fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state after every key.
        unsafe { &*self.provider }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

impl Drop for HybridKey {
    fn drop(&mut self) {
        if let Some((functions, inner)) = self.theirs()
            && let Some(free) = functions.free
        {
            // SAFETY: adopted once, freed once, by the provider that made it.
            unsafe { free(inner) };
        }
    }
}

impl Public {
    fn session(&self, group: &Group) -> Result<&KeySession, Refused> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let parts = group.split_share(&self.share);
        let session = encapsulating(group, parts.map_or(&[], |parts| parts.ml_kem))?;
        Ok(self.session.get_or_init(|| session))
    }
}

impl Secret {
    fn session(&self, group: &Group) -> Result<&KeySession, Refused> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let kind = KeyKind::MlKem(group.set);
        let session = open(|| {
            Ok(KeyTransform::decapsulate(&SecretKey::raw(
                kind,
                &self.ml_kem,
            )?))
        });
        let session = session.map_err(|why| of_ml_kem(group, &why))?;
        Ok(self.session.get_or_init(|| session))
    }
}

/// ML-KEM's session for a peer's encapsulation key, which it checks.
fn encapsulating(group: &Group, key: &[u8]) -> Result<KeySession, Refused> {
    let kind = KeyKind::MlKem(group.set);
    let session = open(|| Ok(KeyTransform::encapsulate(&PublicKey::raw(kind, key)?)));
    session.map_err(|why| of_ml_kem(group, &why))
}

/// A session of the native engine; `None` in place of an error if there is no engine or no memory,
/// this time.
fn open(
    transform: impl FnOnce() -> Result<KeyTransform, KeyError>,
) -> Result<KeySession, Option<KeyError>> {
    let opened = batch::on_large_stack(|| {
        let transform = transform().map_err(Some)?;
        let device = device().ok_or(None)?;
        device.key_session_on("native", &transform).map_err(Some)
    });
    opened.unwrap_or(Err(None))
}

fn of_ml_kem(group: &Group, why: &Option<KeyError>) -> Refused {
    let name = group.as_str();
    match why {
        Some(why) => Refused(Reason::InvalidKey, format!("{name}: {why}")),
        None => Refused(
            Reason::Failed,
            format!("{name}: no memory or descriptor for the engines; they are tried again later"),
        ),
    }
}

/// `given` is not what a group's `what` looks like.
fn wrong_form(group: &Group, what: &str, given: &[u8], expected: usize) -> Refused {
    let (name, curve) = (group.as_str(), group.curve_name());
    if given.len() != expected {
        let message = format!("{name}: {what} of {} bytes; it has {expected}", given.len());
        return Refused(Reason::InvalidKeyLength, message);
    }
    let message = format!("{name}: {what} with a {curve} point that is not uncompressed");
    Refused(Reason::InvalidKey, message)
}

/// Whether what the caller makes is for an exchange that can run in lanes: generated keys come from the
/// thread's spare ones then.
pub(crate) fn is_for_lanes(provider: &Provider) -> bool {
    batch::inside_job() && provider.has_lanes() && provider.config.algorithms.has(Algorithm::MlKem)
}

/// A decapsulation key and its encapsulation key.
fn ml_kem_pair(provider: &Provider, group: &Group) -> Option<(Bytes, Vec<u8>)> {
    let kind = KeyKind::MlKem(group.set);
    if is_for_lanes(provider)
        && let Some(pair) = spare::take(kind)
    {
        return Some((pair.secret, pair.public));
    }
    let session = open(|| Ok(KeyTransform::generate(kind))).ok()?;
    let mut secret = Zeroizing::new(vec![0; session.output_len(0)]);
    let mut public = vec![0; session.second_output_len()];
    let op = KeyOp::generate(&session, &mut secret, &mut public);
    direct::process(&mut [op]).then_some((secret, public))
}

/// A new key of the curve, in the default provider.
fn curve_key(provider: &Provider, kind: KeyKind) -> Option<Arc<Key>> {
    if is_for_lanes(provider)
        && let Some(pair) = spare::take(kind)
    {
        // SAFETY: the reference is to what is alive.
        let key = unsafe { Key::import(provider, curve::index(kind), &pair) };
        if key.is_some() {
            return key;
        }
    }
    curve::generate(provider, kind)
}
