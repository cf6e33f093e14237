//! What the core holds as a context: the default provider's own, the key, and what the operation
//! keeps beside them.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use lanelock::public_key::{Curve, KeyJob, KeyKind, Operation as KeyOperation};

use super::output::Output;
use crate::algorithms::Algorithm;
use crate::batch::{self, Bytes, NoResult};
use crate::combine::{self, Group};
use crate::default_provider::DefaultProvider;
use crate::event_loop;
use crate::ffi::OSSL_PARAM;
use crate::ffi::boundary::boundary;
use crate::ffi::delegate::delegate;
use crate::ffi::functions::{Common, ContextTable, Wrapper};
use crate::key::Key;
use crate::provider::Provider;

/// An operation under way.
pub(super) struct Context<O> {
    provider: *const Provider,
    index: usize,
    /// The default provider's context.
    pub inner: *mut c_void,
    key: Option<Arc<Key>>,
    pub operation: O,
}

/// A kind of operation, and what a context keeps for it; initializing a context makes it anew.
pub(super) trait Operation: Clone + Default + 'static {
    type Table: ContextTable + 'static;

    /// What has to be chosen for operations of algorithm `index` to run in lanes.
    fn choice(index: usize) -> Algorithm;

    /// The default provider's functions, one table for each algorithm.
    fn tables(provider: &DefaultProvider) -> &[Self::Table];

    /// What an operation with `key` shares batches with where threads wait; `None` if it takes no longer
    /// than to wait does.
    fn group(index: usize, key: &Key) -> Option<Group>;

    /// Parameters are given to a context of algorithm `index`.
    ///
    /// # Safety
    /// `params` is null or a terminated array.
    unsafe fn see(&mut self, index: usize, params: *const OSSL_PARAM);
}

impl<O: Operation> Context<O> {
    /// Takes over `inner`, a context of algorithm `index`; null stays null.
    pub(super) fn adopt(
        provider: *const Provider,
        index: usize,
        inner: *mut c_void,
    ) -> *mut c_void {
        Self {
            provider,
            index,
            inner,
            key: None,
            operation: O::default(),
        }
        .into_raw()
    }

    fn into_raw(self) -> *mut c_void {
        if self.inner.is_null() {
            return self.inner;
        }
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// `raw` came from [`Context::into_raw`], is alive and not used by anybody else.
    pub(super) unsafe fn of<'c>(raw: *mut c_void) -> &'c mut Self {
        // SAFETY: the caller's; the core uses a context in one thread at a time.
        unsafe { &mut *raw.cast() }
    }

    fn provider(&self) -> &Provider {
        // SAFETY: the core frees the provider's state after every context.
        unsafe { &*self.provider }
    }

    /// The default provider's functions.
    pub(super) fn theirs(&self) -> &O::Table {
        &O::tables(self.provider().theirs())[self.index]
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// A key comes in, or null for the one that is there, and with it a new operation. The default
    /// provider's key.
    ///
    /// # Safety
    /// `key` is null or the core's, `params` null or a terminated array.
    pub(super) unsafe fn start(
        &mut self,
        key: *mut c_void,
        params: *const OSSL_PARAM,
    ) -> *mut c_void {
        self.operation = O::default();
        // SAFETY: the caller's.
        let key = unsafe {
            self.operation.see(self.index, params);
            Key::share(key)
        };
        let inner = key.as_ref().map_or(std::ptr::null_mut(), |key| key.inner);
        self.key = key.or_else(|| self.key.take());
        inner
    }

    /// Whether the operation may run in a batch: that of its job's thread, or one with other threads.
    pub(super) fn can_join(&self) -> bool {
        self.joins_jobs() || self.group().is_some()
    }

    /// Whether the operation may run in a batch of its job's thread.
    fn joins_jobs(&self) -> bool {
        let choice = O::choice(self.index);
        self.provider().can_join(choice) && (event_loop::is_driven() || self.pays_for_pause(choice))
    }

    /// Whether a job that the program resumes pauses for the operation.
    fn pays_for_pause(&self, choice: Algorithm) -> bool {
        let curve = || match self.key.as_ref().is_none_or(|key| key.is_p384()) {
            true => KeyKind::Ec(Curve::P384),
            false => KeyKind::Ec(Curve::P256),
        };
        let (kind, operation) = match choice {
            // The smallest: with others lanes save more.
            Algorithm::Rsa => (KeyKind::Rsa(2048), KeyOperation::Sign),
            Algorithm::Ecdsa => (curve(), KeyOperation::Sign),
            Algorithm::Ed25519 => (KeyKind::Ed25519, KeyOperation::Sign),
            Algorithm::Ecdh => (curve(), KeyOperation::Derive),
            Algorithm::X25519 => (KeyKind::X25519, KeyOperation::Derive),
            // It has no contexts of this kind.
            Algorithm::MlKem => return true,
        };
        self.provider().pays_for_pauses(kind, operation)
    }

    /// What the operation shares batches with outside of jobs; `None` if it runs by itself there.
    fn group(&self) -> Option<Group> {
        let can_combine = self.provider().can_combine(O::choice(self.index));
        can_combine.then(|| O::group(self.index, self.key.as_deref()?))?
    }

    /// Runs the operation that `make` describes in a batch and hands its result over; `None` if it
    /// is to be delegated.
    pub(super) fn batch(
        &self,
        output: Output,
        make: impl FnOnce(&Key) -> Option<KeyJob<Bytes>>,
    ) -> Option<c_int> {
        let key = self.key.as_ref()?;
        if output.is_length_only() {
            return None;
        }
        if !self.joins_jobs() {
            let job = combine::run(self.provider().config.threads, self.group()?, || make(key))?;
            return output.put(job.result()).then_some(1);
        }
        match batch::run(self.provider().config.deadline, || make(key)) {
            Ok(job) => output.put(job.result()).then_some(1),
            Err(NoResult::Delegate) => None,
            Err(NoResult::Cancelled) => Some(0),
        }
    }
}

impl<O: Operation> Wrapper for Context<O> {
    type Table = O::Table;

    unsafe fn unwrap<'w>(raw: *mut c_void) -> (&'w O::Table, *mut c_void) {
        // SAFETY: the caller's.
        let context = unsafe { Self::of(raw) };
        (context.theirs(), context.inner)
    }
}

/// Functions that take a key in: `name(what the core passes before the key)`.
macro_rules! starts {
    ($operation:ty; $($name:ident($($arg:ident: $type:ty),*);)*) => {$(
        unsafe extern "C" fn $name(
            context: *mut ::std::ffi::c_void,
            $($arg: $type,)*
            key: *mut ::std::ffi::c_void,
            params: *const crate::ffi::OSSL_PARAM,
        ) -> ::std::ffi::c_int {
            boundary(|| {
                // SAFETY: see `operations`.
                let (context, key) = unsafe {
                    let context = Context::<$operation>::of(context);
                    let key = context.start(key, params);
                    (context, key)
                };
                delegate!(context.theirs().$name, context.inner, $($arg,)* key, params)
            })
        }
    )*};
}
pub(super) use starts;

/// What [`Common`] names, for contexts of algorithm `A`.
pub(super) fn common<O: Operation, const A: usize>() -> Common {
    Common {
        freectx: Some(freectx::<O>),
        dupctx: Some(dupctx::<O>),
        set_ctx_params: Some(set_ctx_params::<O>),
        gettable_ctx_params: Some(gettable_ctx_params::<O, A>),
        settable_ctx_params: Some(settable_ctx_params::<O, A>),
    }
}

unsafe extern "C" fn freectx<O: Operation>(context: *mut c_void) {
    boundary(|| {
        if context.is_null() {
            return;
        }
        // SAFETY: see `operations`; freed once.
        let context = unsafe { Box::from_raw(context.cast::<Context<O>>()) };
        if let Some(free) = context.theirs().common().freectx {
            // SAFETY: as above.
            unsafe { free(context.inner) };
        }
    })
}

unsafe extern "C" fn dupctx<O: Operation>(context: *mut c_void) -> *mut c_void {
    boundary(|| {
        // SAFETY: see `operations`.
        let context = unsafe { Context::<O>::of(context) };
        let copy = Context {
            inner: delegate!(context.theirs().common().dupctx, context.inner),
            provider: context.provider,
            index: context.index,
            key: context.key.clone(),
            operation: context.operation.clone(),
        };
        copy.into_raw()
    })
}

unsafe extern "C" fn set_ctx_params<O: Operation>(
    context: *mut c_void,
    params: *const OSSL_PARAM,
) -> c_int {
    boundary(|| {
        // SAFETY: see `operations`.
        let context = unsafe { Context::<O>::of(context) };
        // SAFETY: as above.
        unsafe { context.operation.see(context.index, params) };
        delegate!(
            context.theirs().common().set_ctx_params,
            context.inner,
            params
        )
    })
}

unsafe extern "C" fn gettable_ctx_params<O: Operation, const A: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, context) = unsafe { (Provider::of(provctx).theirs(), inner::<O>(context)) };
        let table = &O::tables(theirs)[A];
        delegate!(table.common().gettable_ctx_params, context, theirs.state)
    })
}

unsafe extern "C" fn settable_ctx_params<O: Operation, const A: usize>(
    context: *mut c_void,
    provctx: *mut c_void,
) -> *const OSSL_PARAM {
    boundary(|| {
        // SAFETY: see `operations`.
        let (theirs, context) = unsafe { (Provider::of(provctx).theirs(), inner::<O>(context)) };
        let table = &O::tables(theirs)[A];
        delegate!(table.common().settable_ctx_params, context, theirs.state)
    })
}

/// The default provider's context; null for none, where the core asks about an algorithm.
///
/// # Safety
/// `context` is null, or as [`Context::of`].
unsafe fn inner<O: Operation>(context: *mut c_void) -> *mut c_void {
    match context.is_null() {
        true => context,
        // SAFETY: the caller's.
        false => unsafe { Context::<O>::of(context) }.inner,
    }
}
