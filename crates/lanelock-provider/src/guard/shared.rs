//! Connections that have, or had, more than one reference: their last is not known.

use std::collections::HashSet;
use std::ffi::{c_int, c_long, c_void};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::ffi::boundary::boundary;
use crate::libssl::{CONNECTIONS, Ssl};

/// So many that threads with connections of their own seldom meet.
const SHARDS: usize = 64;

type Addresses = Option<HashSet<usize>>;

static SHARED: [Mutex<Addresses>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

/// A connection gets another reference.
pub(super) fn insert(ssl: Ssl) {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    shard(ssl).get_or_insert_default().insert(ssl.addr());
}

pub(super) fn contains(ssl: Ssl) -> bool {
    let shard = shard(ssl);
    shard
        .as_ref()
        .is_some_and(|shard| shard.contains(&ssl.addr()))
}

fn shard(ssl: Ssl) -> MutexGuard<'static, Addresses> {
    // Connections take more than 4 KiB each.
    let shard = &SHARED[(ssl.addr() >> 12) % SHARDS];
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has libcrypto tell when connections go: another may get the address. If that fails, it is taken
/// for shared, and left alone.
fn watch() {
    // SAFETY: no argument, and a function of the type that is called; the module stays mapped.
    unsafe {
        crate::ffi::CRYPTO_get_ex_new_index(
            CONNECTIONS,
            0,
            std::ptr::null_mut(),
            None,
            None,
            Some(freed),
        );
    }
}

/// `CRYPTO_EX_free` of openssl/crypto.h, called with each connection whose last reference went.
unsafe extern "C" fn freed(
    ssl: Ssl,
    _: *mut c_void,
    _: *mut c_void,
    _: c_int,
    _: c_long,
    _: *mut c_void,
) {
    boundary(|| {
        if let Some(shard) = shard(ssl).as_mut() {
            shard.remove(&ssl.addr());
        }
    })
}
