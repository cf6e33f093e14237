//! What the OpenSSL provider tells about itself. A process whose page nobody asks for, and which
//! never enters asynchronous mode, gets none.

use crate::SOCKET;
use crate::layout::header;
use crate::page::Page;

/// This process has loaded the provider.
pub fn loaded() {
    if (std::env::var_os(SOCKET).is_some() || Page::exists())
        && let Some(page) = Page::current()
    {
        page.set(header::IS_MODULE);
    }
}

/// The provider has been given a private-key operation outside of asynchronous mode, and passes it
/// on.
#[inline]
pub fn outside_of_jobs() {
    if Page::exists()
        && let Some(page) = Page::current()
    {
        page.set(header::OUTSIDE_JOBS);
    }
}
