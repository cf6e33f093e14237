//! Functions that stand in for information callbacks, and keep from them what happens to a
//! connection that the application has given up.
//!
//! libssl's state machine takes the callback of a connection, or of the context that it has at that
//! moment, before its job pauses: taking it away later has no effect. So each callback has a
//! stand-in from the start, which is bound to the callback and not to a context.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::batch;
use crate::ffi::boundary::boundary;
use crate::libssl::InfoCallback;

/// Callbacks that have stand-ins. A program has one or two.
const MOST: usize = 8;

static CALLBACKS: [AtomicPtr<c_void>; MOST] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];

static STAND_INS: [InfoCallback; MOST] = [
    inform::<0>,
    inform::<1>,
    inform::<2>,
    inform::<3>,
    inform::<4>,
    inform::<5>,
    inform::<6>,
    inform::<7>,
];

static RAN_OUT: AtomicBool = AtomicBool::new(false);

/// What is set in place of this callback: itself, if there are too many.
pub(super) fn stand_in(callback: InfoCallback) -> InfoCallback {
    if is_stand_in(callback) {
        return callback;
    }
    let raw = callback as *mut c_void;
    let (free, order) = (std::ptr::null_mut(), Ordering::Relaxed);
    for (known, stand_in) in CALLBACKS.iter().zip(STAND_INS) {
        match known.compare_exchange(free, raw, order, order) {
            Ok(_) => return stand_in,
            Err(other) if other == raw => return stand_in,
            Err(_) => {}
        }
    }
    RAN_OUT.store(true, Ordering::Relaxed);
    callback
}

/// The application's callback for what is set.
pub(super) fn original(callback: InfoCallback) -> InfoCallback {
    slot(callback).and_then(load).unwrap_or(callback)
}

pub(super) fn is_stand_in(callback: InfoCallback) -> bool {
    slot(callback).is_some()
}

/// Whether there are callbacks without stand-ins.
pub(super) fn ran_out() -> bool {
    RAN_OUT.load(Ordering::Relaxed)
}

fn slot(callback: InfoCallback) -> Option<usize> {
    STAND_INS
        .iter()
        .position(|&stand_in| std::ptr::fn_addr_eq(stand_in, callback))
}

fn load(slot: usize) -> Option<InfoCallback> {
    let raw = CALLBACKS[slot].load(Ordering::Relaxed);
    // SAFETY: what is there was put by `stand_in`, a function of this type, or is null.
    unsafe { std::mem::transmute(raw) }
}

unsafe extern "C" fn inform<const SLOT: usize>(ssl: *const c_void, kind: c_int, value: c_int) {
    boundary(|| {
        if let Some(callback) = load(SLOT)
            && !batch::is_cancelling()
        {
            // SAFETY: libssl's arguments for the callback that it was given.
            unsafe { callback(ssl, kind, value) };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn callback<const N: usize>(_: *const c_void, _: c_int, _: c_int) {
        std::hint::black_box(N);
    }

    #[test]
    fn a_callback_has_one_stand_in_and_those_beyond_the_most_have_none() {
        let callbacks: [InfoCallback; MOST + 1] = [
            callback::<0>,
            callback::<1>,
            callback::<2>,
            callback::<3>,
            callback::<4>,
            callback::<5>,
            callback::<6>,
            callback::<7>,
            callback::<8>,
        ];
        for (index, &callback) in callbacks.iter().enumerate() {
            let set = stand_in(callback);
            assert_eq!(is_stand_in(set), index < MOST, "{index}");
            assert!(std::ptr::fn_addr_eq(original(set), callback));
            assert!(std::ptr::fn_addr_eq(stand_in(callback), set));
            assert!(std::ptr::fn_addr_eq(stand_in(set), set));
            assert_eq!(ran_out(), index >= MOST);
        }
    }
}
