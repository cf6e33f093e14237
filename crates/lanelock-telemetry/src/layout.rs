//! Where the page has what: native 64-bit words, a header and then blocks of one size.
//!
//! A change of any of this is a new [`VERSION`].

use crate::histogram::BUCKETS;

/// The header's first word, written when the rest of the page is ready.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"lanelock");
/// Version of the layout.
pub(crate) const VERSION: u64 = 2;

/// Words of the header.
pub(crate) const HEADER_WORDS: usize = 64;
/// Words of a block: whole cache lines.
pub(crate) const BLOCK_WORDS: usize = block::COMPUTE + BUCKETS;
/// Blocks of a page: threads times algorithms. Those that are not used cost no memory.
pub(crate) const BLOCKS: usize = 512;
/// Words of a page.
pub(crate) const PAGE_WORDS: usize = HEADER_WORDS + BLOCKS * BLOCK_WORDS;

const _: () = assert!(BLOCK_WORDS.is_multiple_of(8) && HEADER_WORDS.is_multiple_of(8));

/// Words of the header.
pub(crate) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const BLOCK_WORDS: usize = 2;
    pub(crate) const BLOCKS: usize = 3;
    /// Process number, as the process sees it.
    pub(crate) const PID: usize = 4;
    /// When the page was made, in seconds since 1970.
    pub(crate) const STARTED: usize = 5;
    /// Odd while counts are being moved from one block to another.
    pub(crate) const MOVES: usize = 6;
    /// How often a queue found no free block for an algorithm, which it then does not count.
    pub(crate) const UNPLACED: usize = 7;
    /// 1 in a process that has loaded the OpenSSL provider.
    pub(crate) const IS_MODULE: usize = 8;
    /// 1 once the provider has been given a private-key operation outside of asynchronous mode.
    pub(crate) const OUTSIDE_JOBS: usize = 9;
    /// Why the provider runs nothing in lanes: a code of [`crate::Inactive`], or 0.
    pub(crate) const INACTIVE: usize = 10;
}

/// Words of a block.
pub(crate) mod block {
    /// One of [`super::state`].
    pub(crate) const STATE: usize = 0;
    /// Number of the thread that first used the block.
    pub(crate) const THREAD: usize = 1;
    /// The algorithm's name in bytes, padded with zeros, of which there is at least one.
    pub(crate) const NAME: usize = 2;
    pub(crate) const NAME_WORDS: usize = 6;
    /// The first counter.
    pub(crate) const COUNTERS: usize = 8;
    pub(crate) const SUBMITTED: usize = 8;
    pub(crate) const COMPLETED: usize = 9;
    pub(crate) const FAILED: usize = 10;
    pub(crate) const CANCELLED: usize = 11;
    pub(crate) const SINGLES: usize = 12;
    pub(crate) const BATCHES: usize = 13;
    pub(crate) const IN_LANES: usize = 14;
    pub(crate) const WAIT_SUM: usize = 15;
    pub(crate) const COMPUTE_SUM: usize = 16;
    /// Maxima stand beside the counters, but do not add up.
    pub(crate) const WAIT_MAX: usize = 17;
    pub(crate) const COMPUTE_MAX: usize = 18;
    /// Batches by lanes filled; the last word counts what is more.
    pub(crate) const LANES_FILLED: usize = 24;
    /// Histogram of the time in the queue.
    pub(crate) const WAIT: usize = 96;
    /// Histogram of the time in the engine.
    pub(crate) const COMPUTE: usize = WAIT + crate::histogram::BUCKETS;
}

/// 0 to 64 lanes, in whole cache lines.
pub(crate) const LANES_FILLED_WORDS: usize = 65;

/// States of a block.
pub(crate) mod state {
    pub(crate) const FREE: u64 = 0;
    /// A queue writes to it.
    pub(crate) const LIVE: u64 = 1;
    /// The counts of all queues of one algorithm that have gone.
    pub(crate) const ENDED: u64 = 2;
}

/// A name as the words of a block; longer ones are cut.
pub(crate) fn name_words(name: &[u8]) -> [u64; block::NAME_WORDS] {
    let mut bytes = [0; block::NAME_WORDS * 8];
    let len = name.len().min(bytes.len() - 1);
    bytes[..len].copy_from_slice(&name[..len]);
    let mut words = [0; block::NAME_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    }
    words
}

/// The name in the words of a block; `None` if it is none that [`name_words`] makes of the name of
/// an algorithm.
pub(crate) fn name_of(words: &[u64]) -> Option<String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let len = bytes.iter().position(|byte| *byte == 0)?;
    let (name, padding) = bytes.split_at(len);
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let is_name = len > 0 && name.iter().all(is_letter) && padding.iter().all(|byte| *byte == 0);
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}
