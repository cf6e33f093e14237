//! What the OpenSSL provider tells about itself.

use crate::layout::header;
use crate::page::Page;

/// This process has loaded the provider.
pub fn loaded() {
    if let Some(page) = Page::current() {
        page.set(header::IS_MODULE);
    }
}

/// The provider has been given a private-key operation outside of asynchronous mode, and passes it
/// on. Some nanoseconds, where the process has a page.
#[inline]
pub fn outside_of_jobs() {
    if let Some(page) = Page::current() {
        page.set(header::OUTSIDE_JOBS);
    }
}
