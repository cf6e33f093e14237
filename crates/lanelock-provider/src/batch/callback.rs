//! Whether a callback of the application's is on the job's stack: code that libssl called, and that
//! is neither libssl's nor libcrypto's. Such an operation does not pause: the callback may hold
//! locks, and after the application has given the connection up it must not go on.
//!
//! The stack is unwound, which takes as long as an elliptic-curve signature. So threads remember the
//! chains of return addresses that they have met, of which a server has a few for each kind of
//! handshake, and compare them where they stood.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use super::stack::{is_on_large_stack, on_large_stack};
use crate::ffi::{self, boundary::boundary};
use crate::libssl::Library;

/// Chains that a thread remembers.
const MOST_CHAINS: usize = 64;

/// Return addresses of a chain; a job's 32 KiB hold no more in earnest.
const MOST_FRAMES: usize = 128;

/// A frame of the job's stack.
#[derive(Clone, Copy)]
struct Frame {
    /// Bytes above [`is_active`]'s mark at which the address is that the frame returns to.
    offset: usize,
    returns_to: usize,
}

/// The return addresses of a stack, the latest call first.
struct Chain {
    frames: Vec<Frame>,
    has_callback: bool,
}

/// What the frames of a chain are looked at for.
struct Walk {
    mark: usize,
    frames: Vec<Frame>,
    /// Whether each return address was found where the calling convention of x86-64 has it.
    is_plain: bool,
}

/// Whose code an address is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Owner {
    Libssl,
    Libcrypto,
    /// The module's or the C library's, which call back for others.
    Between,
    Other,
}

thread_local! {
    static CHAINS: RefCell<Vec<Chain>> = const { RefCell::new(Vec::new()) };
}

/// Whether the operation that the current job is in belongs to a callback of the application's, or
/// may do so: where the stack cannot be unwound, or is not the job's, that is not known.
// Its frame, in which the mark is, is the first of each chain.
#[inline(never)]
pub(super) fn is_active() -> bool {
    let mark = 0_u8;
    let mark = (&raw const mark).expose_provenance();
    if is_on_large_stack(mark) {
        return true;
    }
    CHAINS
        .try_with(|chains| {
            let Ok(mut chains) = chains.try_borrow_mut() else {
                return true;
            };
            // SAFETY: the mark is on the current stack, in the same frame as that of each chain.
            let known = chains
                .iter()
                .position(|chain| unsafe { chain.stands_at(mark) });
            let place = known.unwrap_or_else(|| {
                if chains.len() == MOST_CHAINS {
                    chains.clear();
                }
                chains.push(Chain::at(mark));
                chains.len() - 1
            });
            // What is met often is found soon.
            chains.swap(place, place / 2);
            chains[place / 2].has_callback
        })
        .unwrap_or(true)
}

impl Chain {
    /// Unwinds the stack that `mark` is on, from the large one: the unwinder, and the dynamic linker
    /// that binds its functions at their first call, take some 8 KiB.
    fn at(mark: usize) -> Self {
        let look = || {
            let mut walk = Walk {
                mark,
                frames: Vec::with_capacity(MOST_FRAMES),
                is_plain: true,
            };
            // SAFETY: the function's argument is as it expects it, and lives until the call returns.
            unsafe { _Unwind_Backtrace(note, (&raw mut walk).cast()) };
            let frames = walk.frames.iter();
            let owners: Vec<_> = frames.map(|frame| owner(frame.returns_to)).collect();
            Self {
                has_callback: has_callback(&owners),
                // Without frames it stands nowhere.
                frames: if walk.is_plain {
                    walk.frames
                } else {
                    Vec::new()
                },
            }
        };
        on_large_stack(look).unwrap_or(Self {
            frames: Vec::new(),
            has_callback: true,
        })
    }

    /// Whether the stack has this chain.
    ///
    /// # Safety
    /// `mark` is [`is_active`]'s, on the current stack.
    unsafe fn stands_at(&self, mark: usize) -> bool {
        !self.frames.is_empty()
            && self.frames.iter().all(|frame| {
                let place = std::ptr::with_exposed_provenance::<usize>(mark + frame.offset);
                // SAFETY: in the stack: all frames before were equal, so that this one is of the
                // same function at the same call. Its size is that of the function, none of which
                // on the way from a job's start to here is known to take a variable part.
                unsafe { place.read_volatile() == frame.returns_to }
            })
    }
}

/// Whether a chain, the latest call first, has code of others between libssl's and the operation.
/// What a job of the application's own has called libssl from is no callback.
fn has_callback(owners: &[Owner]) -> bool {
    // The outermost of a whole chain is what libcrypto starts jobs with.
    let outermost = owners.iter().rev().find(|&&owner| owner != Owner::Between);
    if outermost != Some(&Owner::Libcrypto) {
        return true;
    }
    let libssl = owners.iter().rposition(|&owner| owner == Owner::Libssl);
    libssl.is_some_and(|libssl| owners[..libssl].contains(&Owner::Other))
}

/// Whether an address is in the libcrypto that this module is linked with.
pub(crate) fn is_libcryptos(address: *const c_void) -> bool {
    let base = base(address.addr());
    base.is_some() && base == self::base((ffi::ASYNC_pause_job as *const c_void).addr())
}

fn owner(address: usize) -> Owner {
    let base = base(address);
    let is_of = |function: *const c_void| base.is_some() && base == self::base(function.addr());
    if is_libcryptos(std::ptr::without_provenance(address)) {
        Owner::Libcrypto
    } else if is_of(owner as *const c_void) || is_of(libc::abort as *const c_void) {
        Owner::Between
    } else if Library::at(address).is_some() {
        Owner::Libssl
    } else {
        Owner::Other
    }
}

/// Where the object that has this address is mapped; `None` if none has.
fn base(address: usize) -> Option<usize> {
    // SAFETY: a place for the result; nothing is read at the address.
    unsafe {
        let mut info = std::mem::zeroed::<libc::Dl_info>();
        let found = libc::dladdr(std::ptr::without_provenance(address), &raw mut info);
        (found != 0).then(|| info.dli_fbase.addr())
    }
}

/// `_Unwind_Context` of unwind.h.
enum Context {}

type Note = unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int;

unsafe extern "C" {
    fn _Unwind_Backtrace(note: Note, arg: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

/// Takes down what a frame was called from.
unsafe extern "C" fn note(context: *mut Context, walk: *mut c_void) -> c_int {
    boundary(|| {
        /// `_URC_NO_REASON` of unwind.h.
        const GO_ON: c_int = 0;
        /// `_URC_END_OF_STACK`.
        const END: c_int = 5;
        // SAFETY: the unwinder's context; the argument is `Chain::at`'s.
        let (walk, returns_to, end) = unsafe {
            let walk = &mut *walk.cast::<Walk>();
            (walk, _Unwind_GetIP(context), _Unwind_GetCFA(context))
        };
        if returns_to == 0 || walk.frames.len() == MOST_FRAMES {
            return END;
        }
        // What the unwinder itself is called from: on the large stack, and below the mark.
        let above_mark = end.checked_sub(walk.mark + size_of::<usize>());
        let Some(offset) = above_mark.filter(|_| !is_on_large_stack(end)) else {
            return GO_ON;
        };
        let place = std::ptr::with_exposed_provenance::<usize>(walk.mark + offset);
        // SAFETY: in the stack, at the end of the frame that returns.
        walk.is_plain &= unsafe { place.read_volatile() } == returns_to;
        walk.frames.push(Frame { offset, returns_to });
        GO_ON
    })
}

#[cfg(test)]
mod tests {
    use super::Owner::{Between, Libcrypto, Libssl, Other};
    use super::*;

    #[test]
    fn only_code_of_others_that_libssl_called_is_a_callback() {
        let in_handshake = [Between, Libcrypto, Libssl, Libssl, Libcrypto, Between];
        assert!(!has_callback(&in_handshake));
        assert!(!has_callback(&[Between, Libcrypto, Other, Libcrypto]));
        assert!(!has_callback(&[
            Between, Libcrypto, Libssl, Other, Libcrypto
        ]));
        assert!(has_callback(&[
            Between, Libcrypto, Other, Libssl, Libcrypto
        ]));
        let nested = [Libcrypto, Libssl, Other, Libssl, Other, Libcrypto];
        assert!(has_callback(&nested));
        let verified = [Libcrypto, Other, Libcrypto, Libssl, Libcrypto];
        assert!(has_callback(&verified));
    }

    #[test]
    fn a_chain_that_ends_before_the_start_of_the_job_may_have_a_callback() {
        assert!(has_callback(&[Between, Libcrypto, Libssl]));
        assert!(has_callback(&[Between, Libcrypto, Other]));
        assert!(has_callback(&[]));
    }
}
