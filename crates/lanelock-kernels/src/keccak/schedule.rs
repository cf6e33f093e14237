//! Lane scheduling: any number of messages of any lengths through the lanes of a register
//! ([`lockstep`]).

#![allow(unsafe_code)] // hands pointers to the permutation

use core::mem::MaybeUninit;

use super::function::MAX_RATE;
use super::lanes::{LANES, STATE, Sponges, copy};
use super::{Function, Job};
use crate::arch::register::Proof;
use crate::arch::words::{self, Kernel, LongLanes, Registers};
use crate::bytes::zero;
use crate::lockstep::{self, Board};
use crate::machine::Machine;
use crate::wipe::wipe;

/// What is absorbed to squeeze, and where a lane without a key begins.
static ZEROS: [u8; STATE] = [0; STATE];

/// Runs every message to its output.
#[inline]
pub(super) fn run(machine: Machine, function: Function, messages: &mut [Job<'_>]) {
    if messages.is_empty() {
        return;
    }
    for message in &mut *messages {
        let fits = message.place().len() <= function.digest().unwrap_or(usize::MAX);
        assert!(fits, "a place for a digest is no longer than the digest");
        let is_of = message.key().is_none_or(|key| key.function() == function);
        assert!(is_of, "a key is of the function that it is used with");
    }
    // SAFETY: the kernel has no contract but that there are messages.
    unsafe { machine.words.run(Run { function, messages }) };
}

struct Run<'j, 'm> {
    function: Function,
    messages: &'j mut [Job<'m>],
}

impl Kernel for Run<'_, '_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let Self { function, messages } = self;
        if messages.len() == 1 {
            Lanes::<_, u64, S::Single>::run(S::single(proof), function, messages);
        } else {
            Lanes::<_, S::U64, S::U64>::run(proof, function, messages);
        }
    }
}

/// What a lane's next run is.
#[derive(Clone, Copy)]
enum Phase {
    /// The message has not ended.
    Message,
    /// The message was absorbed, with its padding.
    Inner,
    /// So was what there is of an outer hash; this much of the output was written.
    Output(usize),
}

/// Where a lane is in its message.
///
/// Invariant: `part` is valid for reading `len` bytes, which are of message `index`.
#[derive(Clone, Copy)]
struct Lane {
    part: *const u8,
    len: usize,
    index: usize,
    phase: Phase,
    /// The lane's block in the scratch.
    scratch: usize,
}

/// The lanes in flight, and the messages that wait.
///
/// Invariant: the first `active` elements of `lane` are initialised; `at[lane]` is valid for reading
/// `left[lane]` blocks, that of every lane for as many as the shortest live one; `from` for a state.
struct Lanes<'j, 'm, P, V: LongLanes, W> {
    function: Function,
    messages: &'j mut [Job<'m>],
    /// Those from here on have not begun.
    next: usize,
    sponges: Sponges<P, V, W>,
    at: [*const u8; LANES],
    left: [usize; LANES],
    lane: [MaybeUninit<Lane>; LANES],
    active: usize,
    /// Before the next step, lanes with a zero begin at the state `from`.
    keep: [u64; LANES],
    from: [*const u8; LANES],
    begins: bool,
    /// Whether any begins at a state other than zeros.
    keyed: bool,
    scratch: Scratch,
}

/// Room for the block of each lane that is not read in place.
#[repr(align(64))]
struct Scratch([MaybeUninit<[u8; BLOCK]>; LANES]);

/// The longest block, in whole cache lines.
const BLOCK: usize = MAX_RATE.next_multiple_of(64);

impl<'j, 'm, P, V, W> Lanes<'j, 'm, P, V, W>
where
    P: Proof + Into<V::Proof> + Into<W::Proof>,
    V: LongLanes,
    W: words::Logic,
{
    #[inline(always)]
    fn run(proof: P, function: Function, messages: &'j mut [Job<'m>]) {
        let count = messages.len().min(V::COUNT);
        let mut lanes = Self {
            function,
            messages,
            next: 0,
            sponges: Sponges::new(proof),
            at: [ZEROS.as_ptr(); LANES],
            left: [0; LANES],
            lane: [MaybeUninit::uninit(); LANES],
            active: count,
            keep: [u64::MAX; LANES],
            from: [ZEROS.as_ptr(); LANES],
            begins: false,
            keyed: false,
            scratch: Scratch([MaybeUninit::uninit(); LANES]),
        };
        for slot in 0..count {
            lanes.start(slot, slot);
        }
        let extremes = lockstep::extremes(lanes.left());
        // SAFETY: the invariant.
        unsafe { lockstep::run(&mut lanes, extremes) };
        lanes.sponges.wipe();
        for block in &mut lanes.scratch.0[..count] {
            wipe(core::slice::from_mut(block.write([0; BLOCK])));
        }
    }

    /// Puts the next message into `slot`.
    #[inline(always)]
    fn start(&mut self, slot: usize, scratch: usize) {
        let index = self.next;
        self.next += 1;
        self.lane[slot].write(Lane {
            part: ZEROS.as_ptr(),
            len: 0,
            index,
            phase: Phase::Message,
            scratch,
        });
        let key = self.messages[index].key();
        self.begin(slot, key.map(|key| key.start()));
        self.absorb(slot);
    }

    /// The state of `slot` before its next run.
    #[inline(always)]
    fn begin(&mut self, slot: usize, state: Option<&'m [u8; STATE]>) {
        self.begins = true;
        self.keyed |= state.is_some();
        self.keep[slot] = 0;
        self.from[slot] = state.unwrap_or(&ZEROS).as_ptr();
    }

    /// The next run of a message that has not ended.
    #[inline(always)]
    fn absorb(&mut self, slot: usize) {
        // SAFETY: `slot` is a live lane.
        let lane = unsafe { self.lane[slot].assume_init_mut() };
        let (rate, message) = (self.function.rate(), &mut self.messages[lane.index]);
        while lane.len == 0
            && let Some(part) = message.next_part()
        {
            (lane.part, lane.len) = (part.cast(), part.len());
        }
        if lane.len >= rate {
            let blocks = lane.len / rate;
            (self.at[slot], self.left[slot]) = (lane.part, blocks);
            lane.part = lane.part.wrapping_add(blocks * rate);
            lane.len -= blocks * rate;
            return;
        }
        let block = &mut self.scratch.0[lane.scratch];
        let bytes: *mut u8 = block.as_mut_ptr().cast();
        let mut filled = 0;
        loop {
            let count = lane.len.min(rate - filled);
            // SAFETY: `count` ≤ `len` readable bytes; `filled + count` ≤ one block.
            unsafe { copy(lane.part, bytes.add(filled), count) };
            lane.part = lane.part.wrapping_add(count);
            lane.len -= count;
            filled += count;
            if filled == rate {
                break;
            }
            let Some(part) = message.next_part() else {
                // SAFETY: the rate is at most a block.
                unsafe { pad(self.function, bytes, filled) };
                lane.phase = Phase::Inner;
                break;
            };
            (lane.part, lane.len) = (part.cast(), part.len());
        }
        (self.at[slot], self.left[slot]) = (bytes, 1);
    }

    /// The next run of a lane whose message was absorbed; `false` if its output is complete.
    #[inline(always)]
    fn conclude(&mut self, slot: usize) -> bool {
        // SAFETY: `slot` is a live lane.
        let lane = unsafe { self.lane[slot].assume_init_mut() };
        let message = &mut self.messages[lane.index];
        let outer = message.key().and_then(|key| key.outer());
        if let (Phase::Inner, Some(outer), Some(digest)) =
            (lane.phase, outer, self.function.digest())
        {
            let block = self.scratch.0[lane.scratch].write([0; BLOCK]);
            self.sponges.squeeze(slot, &mut block[..digest]);
            self.function.pad(block, digest);
            lane.phase = Phase::Output(0);
            (self.at[slot], self.left[slot]) = (block.as_ptr(), 1);
            self.begin(slot, Some(outer));
            return true;
        }
        let written = match lane.phase {
            Phase::Output(written) => written,
            _ => 0,
        };
        let place = &mut message.place()[written..];
        let count = place.len().min(self.function.rate());
        self.sponges.squeeze(slot, &mut place[..count]);
        if place.len() == count {
            return false;
        }
        lane.phase = Phase::Output(written + count);
        (self.at[slot], self.left[slot]) = (ZEROS.as_ptr(), 1);
        true
    }
}

impl<P, V, W> Board for Lanes<'_, '_, P, V, W>
where
    P: Proof + Into<V::Proof> + Into<W::Proof>,
    V: LongLanes,
    W: words::Logic,
{
    #[inline(always)]
    fn left(&mut self) -> &mut [usize] {
        &mut self.left[..self.active]
    }

    #[inline(always)]
    unsafe fn end_together(&mut self, _: usize) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn step(&mut self, blocks: usize) {
        // Lanes past the live ones do what the first does.
        for slot in self.active..V::COUNT {
            self.at[slot] = self.at[0];
        }
        if self.begins {
            self.sponges.keep(&self.keep);
            if self.keyed {
                // SAFETY: each of `from` is a state.
                unsafe { self.sponges.absorb(self.from.as_ptr(), 0, STATE) };
                self.from = [ZEROS.as_ptr(); LANES];
            }
            self.keep = [u64::MAX; LANES];
            (self.begins, self.keyed) = (false, false);
        }
        let rate = self.function.rate();
        for block in 0..blocks {
            // SAFETY: each pointer is valid for `blocks` blocks.
            unsafe { self.sponges.absorb(self.at.as_ptr(), block * rate, rate) };
            self.sponges.permute();
        }
    }

    #[inline(always)]
    unsafe fn advance(&mut self, slot: usize, blocks: usize) {
        self.at[slot] = self.at[slot].wrapping_add(blocks * self.function.rate());
    }

    #[inline(always)]
    unsafe fn refill(&mut self, slot: usize) -> bool {
        // SAFETY: `slot` is a live lane.
        let Lane { phase, scratch, .. } = unsafe { self.lane[slot].assume_init() };
        if let Phase::Message = phase {
            self.absorb(slot);
            return true;
        }
        if self.conclude(slot) {
            return true;
        }
        if self.next == self.messages.len() {
            return false;
        }
        self.start(slot, scratch);
        true
    }

    #[inline(always)]
    unsafe fn close(&mut self, slot: usize) {
        self.active -= 1;
        let last = self.active;
        if slot == last {
            return;
        }
        self.at[slot] = self.at[last];
        self.left[slot] = self.left[last];
        self.lane[slot] = self.lane[last];
        self.keep[slot] = core::mem::replace(&mut self.keep[last], u64::MAX);
        self.from[slot] = self.from[last];
        self.sponges.copy_lane(last, slot);
    }
}

/// Ends a message whose last `filled` bytes are in a block.
///
/// # Safety
/// `block` is writable for the function's rate, which is more than `filled`.
#[inline(always)]
unsafe fn pad(function: Function, block: *mut u8, filled: usize) {
    let rate = function.rate();
    // SAFETY: everything ends at the rate.
    unsafe {
        zero(block.add(filled), rate - filled);
        block.add(filled).write(function.suffix());
        let last = block.add(rate - 1);
        last.write(last.read() | 0x80);
    }
}
