//! The page of this process, as those who write to it see it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use lanelock_core::environment;

use crate::histogram::{BUCKETS, bucket};
use crate::layout::{
    BLOCK_WORDS, BLOCKS, HEADER_WORDS, LANES_FILLED_WORDS, MAGIC, PAGE_WORDS, VERSION, block,
    header, name_words, state,
};
use crate::memory::Words;
use crate::{PAGE_NAME, SWITCH, module, sender};

/// The page of this process. It lives until the process ends.
#[derive(Debug)]
pub(crate) struct Page {
    words: Words,
    /// Kept open for readers, who find the page by it.
    _file: OwnedFd,
    /// Its word is 1 in the process that made the page, and 0 in its forked children.
    mark: Words,
    /// Held while blocks are taken or given back. A page is new in each process, so this is never
    /// held by a thread that a fork has left behind.
    places: Mutex<()>,
}

/// A block of the page with one writer. It does not keep count of itself: see [`Page::give_back`].
#[derive(Debug)]
pub(crate) struct Block {
    words: &'static [AtomicU64; BLOCK_WORDS],
}

static CURRENT: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());

impl Page {
    /// The page of this process, made now if there is none; `None` if the environment says so, or
    /// if the kernel gives no memory file.
    pub(crate) fn current() -> Option<&'static Self> {
        let before = installed();
        if let Some(page) = before.filter(|page| page.is_ours()) {
            return Some(page);
        }
        if environment::variable(SWITCH).is_some_and(|value| value == "off") {
            return None;
        }
        let (words, file) = Words::shared(PAGE_NAME, PAGE_WORDS).ok()?;
        let page = Self::new(words, file).ok()?;
        let page = Box::into_raw(Box::new(page));
        // What was judged above is what is replaced, and never another thread's page since.
        let before = before.map_or(std::ptr::null_mut(), |page| {
            std::ptr::from_ref(page).cast_mut()
        });
        let placed = CURRENT.compare_exchange(before, page, Ordering::AcqRel, Ordering::Acquire);
        if placed.is_err() {
            discard(page);
        } else if let Some(page) = installed() {
            sender::announce(&page._file);
        }
        installed()
    }

    /// Whether this process or its parent has made a page.
    #[inline]
    pub(crate) fn exists() -> bool {
        !CURRENT.load(Ordering::Relaxed).is_null()
    }

    fn new(words: Words, file: OwnedFd) -> io::Result<Self> {
        let mark = Words::wiped_on_fork(1)?;
        mark.as_slice()[0].store(1, Ordering::Relaxed);
        let page = Self {
            words,
            _file: file,
            mark,
            places: Mutex::new(()),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let fields = [
            (header::VERSION, VERSION),
            (header::BLOCK_WORDS, BLOCK_WORDS as u64),
            (header::BLOCKS, BLOCKS as u64),
            (header::PID, u64::from(std::process::id())),
            (header::STARTED, now.map_or(0, |since| since.as_secs())),
        ];
        for (at, value) in fields {
            page.header()[at].store(value, Ordering::Relaxed);
        }
        module::describe(&page);
        page.header()[header::MAGIC].store(MAGIC, Ordering::Release);
        Ok(page)
    }

    /// Sets a word of the header.
    #[inline]
    pub(crate) fn set(&self, at: usize, value: u64) {
        let word = &self.header()[at];
        // Loaded first: the line stays shared between cores.
        if word.load(Ordering::Relaxed) != value {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Whether this process has made the page: otherwise it is the parent's, and must not be
    /// written to.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        self.mark.as_slice()[0].load(Ordering::Relaxed) != 0
    }

    /// A block for one more writer; `None` if all are taken.
    pub(crate) fn take(&'static self, name: &[u8]) -> Option<Block> {
        let _places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = self.blocks().find(|block| block.state() == state::FREE) else {
            bump(&self.header()[header::UNPLACED], 1);
            return None;
        };
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        block.words[block::THREAD].store(u64::from(thread.cast_unsigned()), Ordering::Relaxed);
        for (word, value) in block.words[block::NAME..].iter().zip(name_words(name)) {
            word.store(value, Ordering::Relaxed);
        }
        block.words[block::STATE].store(state::LIVE, Ordering::Release);
        Some(block)
    }

    /// Ends the use of a block: its counts join those of the algorithm that have ended, and it is
    /// free again. The first of an algorithm becomes the one to join.
    pub(crate) fn give_back(&'static self, block: Block) {
        let _places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let name = block.name();
        let ended = self
            .blocks()
            .find(|other| other.state() == state::ENDED && other.name() == name);
        let Some(ended) = ended else {
            block.words[block::STATE].store(state::ENDED, Ordering::Release);
            return;
        };
        let moves = &self.header()[header::MOVES];
        bump(moves, 1);
        std::sync::atomic::fence(Ordering::Release);
        for (at, (to, from)) in ended.words.iter().zip(block.words).enumerate() {
            if at < block::COUNTERS {
                continue;
            }
            let value = from.load(Ordering::Relaxed);
            from.store(0, Ordering::Relaxed);
            match at {
                block::WAIT_MAX | block::COMPUTE_MAX => raise(to, value),
                _ => bump(to, value),
            }
        }
        block.words[block::STATE].store(state::FREE, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::Release);
        bump(moves, 1);
    }

    fn header(&self) -> &[AtomicU64] {
        &self.words.as_slice()[..HEADER_WORDS]
    }

    fn blocks(&'static self) -> impl Iterator<Item = Block> {
        let blocks = self.words.as_slice()[HEADER_WORDS..].chunks_exact(BLOCK_WORDS);
        blocks.map(|words| Block {
            words: words.try_into().expect("a chunk is as long as a block"),
        })
    }
}

impl Block {
    /// Adds to a counter.
    #[inline]
    pub(crate) fn add(&self, counter: usize, count: u64) {
        bump(&self.words[counter], count);
    }

    /// Counts a batch by the lanes that it fills.
    #[inline]
    pub(crate) fn lanes(&self, filled: usize) {
        let at = filled.min(LANES_FILLED_WORDS - 1);
        bump(&self.words[block::LANES_FILLED + at], 1);
    }

    /// Counts `count` waits in the queue of `nanoseconds` each.
    #[inline]
    pub(crate) fn wait(&self, nanoseconds: u64, count: u64) {
        self.add(block::WAIT_SUM, nanoseconds.wrapping_mul(count));
        raise(&self.words[block::WAIT_MAX], nanoseconds);
        self.add(block::WAIT + bucket(nanoseconds), count);
    }

    /// Counts `count` times in the engine of `nanoseconds` each.
    #[inline]
    pub(crate) fn compute(&self, nanoseconds: u64, count: u64) {
        self.add(block::COMPUTE_SUM, nanoseconds.wrapping_mul(count));
        raise(&self.words[block::COMPUTE_MAX], nanoseconds);
        self.add(block::COMPUTE + bucket(nanoseconds), count);
    }

    fn state(&self) -> u64 {
        self.words[block::STATE].load(Ordering::Relaxed)
    }

    fn name(&self) -> [u64; block::NAME_WORDS] {
        std::array::from_fn(|at| self.words[block::NAME + at].load(Ordering::Relaxed))
    }
}

const _: () = assert!(block::LANES_FILLED + LANES_FILLED_WORDS <= block::WAIT);
const _: () = assert!(block::COMPUTE + BUCKETS == BLOCK_WORDS);

/// Adds to a word that nobody else writes: a load and a store, not a locked addition.
#[inline]
fn bump(word: &AtomicU64, count: u64) {
    let sum = word.load(Ordering::Relaxed).wrapping_add(count);
    word.store(sum, Ordering::Relaxed);
}

/// Makes a word that nobody else writes at least `value`.
#[inline]
fn raise(word: &AtomicU64, value: u64) {
    if word.load(Ordering::Relaxed) < value {
        word.store(value, Ordering::Relaxed);
    }
}

#[allow(unsafe_code)]
fn installed() -> Option<&'static Page> {
    // SAFETY: what is in `CURRENT` comes from `Box::into_raw` and is never freed.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
}

#[allow(unsafe_code)]
fn discard(page: *mut Page) {
    // SAFETY: the page comes from `Box::into_raw`, and nobody else has seen it.
    drop(unsafe { Box::from_raw(page) });
}
