//! A stack with room for a batch. A job's own has 32 KiB without a guard page, and the kernels
//! keep their tables on the stack.

use std::cell::{Cell, OnceCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::lanes;

/// Bytes of a thread's large stack. The deepest batch, eight RSA-4096 signatures, takes less than
/// half (the native engine's `steady_state` runs on half). Pages that are never touched cost nothing.
const SIZE: usize = 512 * 1024;

/// Bytes below it that fault: a page where pages are largest, whole pages elsewhere.
const GUARD: usize = 64 * 1024;

/// A stack with a guard below it.
pub(crate) struct Stack {
    mapping: NonNull<libc::c_void>,
    size: usize,
    in_use: Cell<bool>,
}

thread_local! {
    static STACK: OnceCell<Stack> = const { OnceCell::new() };
}

/// Runs `f` on the thread's large stack; on the current one if that is it already. `None` if `f`
/// panicked, or if there is no memory for the stack, this time.
pub(crate) fn on_large_stack<R>(f: impl FnOnce() -> R) -> Option<R> {
    STACK
        .try_with(|stack| {
            let stack = match stack.get() {
                Some(stack) => stack,
                None => {
                    let new = Stack::new().or_else(|| {
                        lanes::refused();
                        None
                    })?;
                    stack.get_or_init(|| new)
                }
            };
            stack.run(f)
        })
        .ok()?
}

/// Whether `address` is on the thread's large stack, its end included.
pub(super) fn is_on_large_stack(address: usize) -> bool {
    let is_on =
        |stack: &Stack| (0..=stack.size).contains(&address.wrapping_sub(stack.base().addr()));
    STACK
        .try_with(|stack| stack.get().is_some_and(is_on))
        .unwrap_or(false)
}

impl Stack {
    /// Calls `f` on this stack, or on the current one if that is it already. `None` if `f` panicked.
    pub(crate) fn run<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        let f = || catch_unwind(AssertUnwindSafe(f)).ok();
        if self.in_use.replace(true) {
            return f();
        }
        // SAFETY: `size` bytes above the guard are mapped, aligned to pages, and used by
        // nobody else; `f` does not unwind, and does not pause the job, whose library would
        // take this stack for its own.
        let result = unsafe { psm::on_stack(self.base(), self.size, f) };
        self.in_use.set(false);
        result
    }

    /// One for batches; `None` if there is no memory for it.
    pub(crate) fn new() -> Option<Self> {
        Self::of(SIZE)
    }

    /// One of `size` bytes, whole pages.
    pub(crate) fn of(size: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new mapping, then its first pages made inaccessible.
        unsafe {
            let mapping = libc::mmap(
                std::ptr::null_mut(),
                GUARD + size,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
            if mapping == libc::MAP_FAILED {
                return None;
            }
            let stack = Self {
                mapping: NonNull::new(mapping)?,
                size,
                in_use: Cell::new(false),
            };
            // A page that is touched is not to become a large one; not every kernel knows of such.
            libc::madvise(mapping, GUARD + size, libc::MADV_NOHUGEPAGE);
            (libc::mprotect(mapping, GUARD, libc::PROT_NONE) == 0).then_some(stack)
        }
    }

    /// Its lowest address, to be made a stack again by [`Stack::from_base`].
    pub(crate) fn into_base(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).base()
    }

    /// # Safety
    /// `base` is from [`Stack::into_base`] of a stack of this size, and given once.
    pub(crate) unsafe fn from_base(base: *mut u8, size: usize) -> Self {
        // SAFETY: the guard lies below it.
        let mapping = unsafe { NonNull::new_unchecked(base.sub(GUARD).cast()) };
        Self {
            mapping,
            size,
            in_use: Cell::new(false),
        }
    }

    /// Whether the kernel has memory in the place of its lowest page.
    pub(crate) fn is_resident(&self) -> bool {
        let mut resident = 0_u8;
        // SAFETY: a byte for each page asked about, which is one whatever the size of pages is.
        unsafe { libc::mincore(self.base().cast(), 1, &raw mut resident) };
        resident & 1 != 0
    }

    fn base(&self) -> *mut u8 {
        // SAFETY: inside the mapping.
        unsafe { self.mapping.as_ptr().cast::<u8>().add(GUARD) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, nothing runs on it.
        unsafe { libc::munmap(self.mapping.as_ptr(), GUARD + self.size) };
    }
}
