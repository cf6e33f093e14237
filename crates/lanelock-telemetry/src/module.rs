//! What the OpenSSL provider tells about itself. A process whose page nobody asks for, which never
//! enters asynchronous mode and has nothing switched off gets none.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanelock_core::environment;

use crate::layout::header;
use crate::page::Page;
use crate::{Inactive, SOCKET, probes};

/// The code of the reason, for pages that are made later, as in forked children; 0 for none.
static INACTIVE: AtomicU64 = AtomicU64::new(0);
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// This process has loaded the provider.
pub fn loaded() {
    IS_LOADED.store(true, Ordering::Relaxed);
    if (environment::variable(SOCKET).is_some() || Page::exists())
        && let Some(page) = Page::current()
    {
        describe(page);
    }
}

/// Why the provider runs nothing in lanes, or that it does again. That it is switched off is
/// told in a page at once, for there will be no operation to tell it at.
pub fn set_inactive(reason: Option<Inactive>) {
    static FIRED: AtomicBool = AtomicBool::new(false);
    INACTIVE.store(reason.map_or(0, Inactive::code), Ordering::Relaxed);
    if let Some(reason) = reason
        && !FIRED.swap(true, Ordering::Relaxed)
    {
        probes::inactive(reason.code(), reason.as_c_str());
    }
    if (Page::exists() || reason.is_some_and(Inactive::is_switched_off))
        && let Some(page) = Page::current()
    {
        describe(page);
    }
}

/// The provider has been given a private-key operation in asynchronous mode that it cannot run in
/// lanes: whoever looks at this process finds a page with the reason.
#[cold]
pub fn missed() {
    if let Some(page) = Page::current() {
        describe(page);
    }
}

/// The provider has been given a private-key operation outside of asynchronous mode, and passes it
/// on.
#[inline]
pub fn outside_of_jobs() {
    if Page::exists()
        && let Some(page) = Page::current()
    {
        page.set(header::OUTSIDE_JOBS, 1);
    }
}

/// Writes into a page what is known of the module.
pub(crate) fn describe(page: &Page) {
    if IS_LOADED.load(Ordering::Relaxed) {
        page.set(header::IS_MODULE, 1);
    }
    page.set(header::INACTIVE, INACTIVE.load(Ordering::Relaxed));
}
