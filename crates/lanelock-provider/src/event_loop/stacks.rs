//! Stacks for jobs that are as large as a thread's own, where libcrypto lets a program allocate them
//! (`ASYNC_set_mem_functions`, from 3.2 on).
//!
//! libcrypto gives a job 32 KiB of the heap, and what needs more overwrites what lies below. Here a job has
//! what the process's first thread usually has, and a guard below that faults. Memory is taken for pages
//! that are touched. A stack is made when a thread has more jobs under way than ever before; libcrypto keeps
//! it with the job for the thread's next, so that no handshake maps any.
//!
//! The functions are a setting of the whole process. If the program has set its own, they stay, and once
//! a job was made libcrypto takes no others: then nothing changes.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::qualification::has_interpreter;
use crate::batch::{self, Stack};
use crate::ffi::boundary::boundary;

/// Bytes of a stack: the usual limit of a process's first thread.
const SIZE: usize = 8 * 1024 * 1024;

/// Most stacks of a process at once. Each is two mappings, of which Linux allows 65530.
const MOST: usize = 4096;

/// `ASYNC_stack_alloc_fn` and `ASYNC_stack_free_fn` of openssl/async.h.
type Allocate = unsafe extern "C" fn(*mut usize) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void);

type Set = unsafe extern "C" fn(Option<Allocate>, Option<Release>) -> c_int;
type Get = unsafe extern "C" fn(*mut Option<Allocate>, *mut Option<Release>);

/// libcrypto's own functions, for what is not allocated here.
static LIBCRYPTOS: OnceLock<(Allocate, Release)> = OnceLock::new();

/// Where the stacks are; 0 for none.
static STACKS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];

/// In place of an address while a stack is made.
const TAKEN: usize = 1;

/// Whether jobs have such stacks, from the first call on.
pub(super) fn are_large() -> bool {
    static ARE_LARGE: OnceLock<bool> = OnceLock::new();
    *ARE_LARGE.get_or_init(install)
}

fn install() -> bool {
    let (Some(get), Some(set)) = (
        find(c"ASYNC_get_mem_functions"),
        find(c"ASYNC_set_mem_functions"),
    ) else {
        return false;
    };
    let (mut allocate_known, mut release_known) = (None, None);
    // SAFETY: the types are those of openssl/async.h for these names; places for both functions.
    unsafe {
        let get = std::mem::transmute::<*mut c_void, Get>(get);
        let set = std::mem::transmute::<*mut c_void, Set>(set);
        get(&raw mut allocate_known, &raw mut release_known);
        let (Some(theirs), Some(releases)) = (allocate_known, release_known) else {
            return false;
        };
        let are_libcryptos = batch::is_libcryptos(theirs as *const c_void)
            && batch::is_libcryptos(releases as *const c_void);
        are_libcryptos
            && LIBCRYPTOS.set((theirs, releases)).is_ok()
            && set(Some(allocate), Some(release)) == 1
    }
}

/// A function of the libcrypto that this module is linked with, if it has it.
fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a terminated string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null() && batch::is_libcryptos(found)).then_some(found)
}

/// A large stack; one of libcrypto's if there is none to be had, unless that is too small for what runs in
/// callbacks: then the handshake runs without a job.
unsafe extern "C" fn allocate(len: *mut usize) -> *mut c_void {
    boundary(|| {
        if let Some(base) = large() {
            // SAFETY: libcrypto's place for the length.
            unsafe { *len = SIZE };
            return base;
        }
        match LIBCRYPTOS.get() {
            // SAFETY: libcrypto's own function with its argument.
            Some((theirs, _)) if !has_interpreter() => unsafe { theirs(len) },
            _ => std::ptr::null_mut(),
        }
    })
}

fn large() -> Option<*mut c_void> {
    let is_free = |place: &&AtomicUsize| {
        let taken = place.compare_exchange(0, TAKEN, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok()
    };
    let place = STACKS.iter().find(is_free)?;
    // One that is resident before it is touched is of a program that locks all its memory.
    let stack = Stack::of(SIZE).filter(|stack| !stack.is_resident());
    let base = stack.map(Stack::into_base);
    place.store(base.map_or(0, |base| base.addr()), Ordering::Relaxed);
    base.map(<*mut u8>::cast)
}

unsafe extern "C" fn release(base: *mut c_void) {
    boundary(|| {
        let is_it = |place: &&AtomicUsize| place.load(Ordering::Relaxed) == base.addr();
        if base.is_null() {
            return;
        }
        if let Some(place) = STACKS.iter().find(is_it) {
            // SAFETY: from `large`, whose job libcrypto frees; the place is given up after that.
            drop(unsafe { Stack::from_base(base.cast(), SIZE) });
            place.store(0, Ordering::Relaxed);
        } else if let Some((_, releases)) = LIBCRYPTOS.get() {
            // SAFETY: allocated by its counterpart, before ours was set or by it.
            unsafe { releases(base) };
        }
    })
}
