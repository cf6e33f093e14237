//! An allocator that reads each block before it is freed, for tests that no key is left in one.

#![allow(unsafe_code)] // a global allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hint::black_box;

/// The system's allocator, which also looks for [`Secrets`] in what the watched thread frees:
/// `#[global_allocator] static ALLOCATOR: Reader = Reader;`.
#[derive(Clone, Copy, Debug)]
pub struct Reader;

/// What must not be found in a freed block, with names.
#[derive(Debug, Default)]
pub struct Secrets(
    /// By their windows, inverted, so that this table is not found itself.
    HashMap<Window, String>,
);

/// A block that was freed with a secret in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The secret's name.
    pub secret: String,
    /// Its place in the block, in bytes.
    pub at: usize,
    /// Size of the block, in bytes.
    pub size: usize,
    /// Alignment of the block, in bytes.
    pub align: usize,
}

/// So many bytes of a secret are enough to find it.
type Window = [u8; 16];

/// What happens to the memory of this thread. New blocks are zeros unless it is `Nothing`: a block
/// that was not written to shows nothing of who had it before.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Watch {
    Nothing,
    /// Blocks that are allocated are listed, until they are freed.
    Allocated,
    /// Blocks that are freed are looked at.
    Freed,
}

#[derive(Default)]
struct State {
    secrets: Secrets,
    found: Vec<Finding>,
    alive: HashMap<usize, usize>,
}

thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(Watch::Nothing) };
    static STATE: RefCell<State> = RefCell::default();
}

impl Secrets {
    /// Adds the first and the last 16 bytes of `bytes`. What is shorter is left out, and what
    /// repeats a few bytes, which would be found everywhere.
    pub fn add(&mut self, name: impl fmt::Display, bytes: &[u8]) {
        let ends = [bytes.first_chunk(), bytes.last_chunk()];
        for end in ends.into_iter().flatten() {
            self.add_window(&name, end);
        }
    }

    /// Adds the forms in which `make` keeps a key: whatever two of its products have in the memory
    /// that they allocate, and one with another key, for which it is called with `true`, has not.
    pub fn learn<T>(&mut self, name: impl fmt::Display, make: impl Fn(bool) -> T) {
        // All live at the same time: an address in one of them is in no other.
        let made = [false, false, true].map(|other| allocated(|| make(other)));
        let [one, again, other] = made.each_ref().map(|(_, blocks)| windows(blocks));
        for window in one
            .intersection(&again)
            .filter(|window| !other.contains(*window))
        {
            self.add_window(&name, window);
        }
    }

    fn add_window(&mut self, name: &impl fmt::Display, window: &Window) {
        let different: HashSet<u8> = window.iter().copied().collect();
        if different.len() > window.len() / 2 {
            let inverted = window.map(|byte| !byte);
            self.0.entry(inverted).or_insert_with(|| name.to_string());
        }
    }

    /// The first secret in `block`, with its place.
    pub(crate) fn find(&self, block: &[u8]) -> Option<(&String, usize)> {
        let inverted: Vec<_> = block.iter().map(|byte| !byte).collect();
        let mut windows = inverted.windows(size_of::<Window>()).enumerate();
        windows.find_map(|(at, window)| Some((self.0.get(window)?, at)))
    }
}

/// Runs `run` and returns the blocks that it freed on this thread with one of `secrets` inside.
/// Blocks that grow count, as they may move.
///
/// # Panics
/// If [`Reader`] is not the global allocator.
pub fn freed<T>(secrets: Secrets, run: impl FnOnce() -> T) -> (T, Vec<Finding>) {
    const CANARY: Window = *b"Canary in a mine";
    STATE.set(State {
        secrets,
        ..State::default()
    });
    WATCH.set(Watch::Freed);
    let value = run();
    WATCH.set(Watch::Nothing);
    // Shows that the allocator is this module's, and looks.
    STATE.with_borrow_mut(|state| state.secrets.add("the canary", &CANARY));
    WATCH.set(Watch::Freed);
    drop(black_box(Box::new(CANARY)));
    WATCH.set(Watch::Nothing);
    let mut found = STATE.take().found;
    let last = found.pop().map(|finding| finding.secret);
    assert_eq!(last.as_deref(), Some("the canary"), "frees are not read");
    (value, found)
}

/// What `make` returns, with copies of the blocks that it has allocated and not freed.
fn allocated<T>(make: impl FnOnce() -> T) -> (T, Vec<Vec<u8>>) {
    STATE.set(State::default());
    WATCH.set(Watch::Allocated);
    let product = make();
    WATCH.set(Watch::Nothing);
    let blocks = STATE.take().alive.into_iter();
    // SAFETY: the block was not freed, and has that size.
    let blocks = blocks.map(|(start, len)| unsafe { copy(start as *const u8, len) });
    let blocks = blocks.collect();
    (product, blocks)
}

/// The windows that start at each word of 32 bits.
fn windows(blocks: &[Vec<u8>]) -> HashSet<Window> {
    let of = |block: &Vec<u8>| {
        let starts = (0..block.len()).step_by(4);
        let windows = starts.filter_map(|at| block[at..].first_chunk().copied());
        windows.collect::<Vec<_>>()
    };
    blocks.iter().flat_map(of).collect()
}

// SAFETY: hands everything to the system's allocator. Growing is allocating, copying and freeing,
// as `GlobalAlloc` has it, so that the old block is looked at.
unsafe impl GlobalAlloc for Reader {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let watch = WATCH.replace(Watch::Nothing);
        if watch == Watch::Nothing {
            // SAFETY: the caller's promise is passed on.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if watch == Watch::Allocated {
            STATE.with_borrow_mut(|state| state.alive.insert(block.addr(), layout.size()));
        }
        WATCH.set(watch);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let watch = WATCH.replace(Watch::Nothing);
        match watch {
            Watch::Nothing => {}
            Watch::Allocated => {
                STATE.with_borrow_mut(|state| state.alive.remove(&block.addr()));
            }
            // SAFETY: the block is the caller's until it is freed below, and has that size.
            Watch::Freed => look(&unsafe { copy(block, layout.size()) }, layout),
        }
        WATCH.set(watch);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A copy of `len` bytes from `start` on. Some may never have been written: a volatile read of
/// those gives some value.
///
/// # Safety
/// They are valid for reading.
unsafe fn copy(start: *const u8, len: usize) -> Vec<u8> {
    // SAFETY: the caller's promise.
    let read = |at| unsafe { start.add(at).read_volatile() };
    (0..len).map(read).collect()
}

fn look(block: &[u8], layout: Layout) {
    STATE.with_borrow_mut(|state| {
        if let Some((secret, at)) = state.secrets.find(block) {
            state.found.push(Finding {
                secret: secret.clone(),
                at,
                size: layout.size(),
                align: layout.align(),
            });
        }
    });
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            secret,
            at,
            size,
            align,
        } = self;
        write!(
            f,
            "a block of {size} bytes, aligned to {align}, is freed with {secret} at {at}"
        )
    }
}
