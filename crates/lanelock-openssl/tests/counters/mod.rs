//! Counters in front of the Rust allocator, libcrypto's allocator and the pthread locks.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Sub;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lanelock_testkit::allocations::{Counting, allocations};

/// Events so far, or between two points.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    pub rust_allocations: u64,
    pub libcrypto_allocations: u64,
    pub libcrypto_frees: u64,
    pub locks: u64,
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static FREES: AtomicU64 = AtomicU64::new(0);
static LOCKS: AtomicU64 = AtomicU64::new(0);

/// The counters now.
pub fn counts() -> Counts {
    Counts {
        rust_allocations: allocations(),
        libcrypto_allocations: ALLOCATIONS.load(Relaxed),
        libcrypto_frees: FREES.load(Relaxed),
        locks: LOCKS.load(Relaxed),
    }
}

/// Puts the counters before libcrypto's allocator; before its first use.
pub fn install() {
    // SAFETY: the three functions keep the contracts of malloc, realloc and free.
    let installed = unsafe { CRYPTO_set_mem_functions(malloc, realloc, free) };
    assert_eq!(installed, 1, "libcrypto has allocated already");
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            rust_allocations: self.rust_allocations - before.rust_allocations,
            libcrypto_allocations: self.libcrypto_allocations - before.libcrypto_allocations,
            libcrypto_frees: self.libcrypto_frees - before.libcrypto_frees,
            locks: self.locks - before.locks,
        }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

unsafe extern "C" {
    fn CRYPTO_set_mem_functions(
        malloc: unsafe extern "C" fn(usize, *const c_char, c_int) -> *mut c_void,
        realloc: unsafe extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void,
        free: unsafe extern "C" fn(*mut c_void, *const c_char, c_int),
    ) -> c_int;
}

unsafe extern "C" fn malloc(size: usize, _file: *const c_char, _line: c_int) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    // SAFETY: any size may be asked for.
    unsafe { libc::malloc(size) }
}

unsafe extern "C" fn realloc(
    old: *mut c_void,
    size: usize,
    _file: *const c_char,
    _line: c_int,
) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    // SAFETY: `old` came from the functions beside this one.
    unsafe { libc::realloc(old, size) }
}

unsafe extern "C" fn free(ptr: *mut c_void, _file: *const c_char, _line: c_int) {
    if !ptr.is_null() {
        FREES.fetch_add(1, Relaxed);
    }
    // SAFETY: `ptr` came from the functions beside this one, or is null.
    unsafe { libc::free(ptr) }
}

/// Defines a lock function that counts and calls libc's; libcrypto, being a shared library, finds
/// the executable's first.
macro_rules! counted_lock {
    ($name:ident, $lock:ty) => {
        /// Counts, then locks.
        ///
        /// # Safety
        /// As libc's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: *mut $lock) -> c_int {
            static NEXT: OnceLock<usize> = OnceLock::new();
            LOCKS.fetch_add(1, Relaxed);
            let next = *NEXT.get_or_init(|| {
                let name = concat!(stringify!($name), "\0");
                // SAFETY: a terminated name; the next definition after this one is libc's.
                unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) as usize }
            });
            assert_ne!(next, 0, "libc has the function");
            type Lock = unsafe extern "C" fn(*mut $lock) -> c_int;
            // SAFETY: libc's function of this name has this signature.
            let next = unsafe { std::mem::transmute::<usize, Lock>(next) };
            // SAFETY: the caller's contract is the same.
            unsafe { next(lock) }
        }
    };
}

counted_lock!(pthread_mutex_lock, libc::pthread_mutex_t);
counted_lock!(pthread_rwlock_rdlock, libc::pthread_rwlock_t);
counted_lock!(pthread_rwlock_wrlock, libc::pthread_rwlock_t);
