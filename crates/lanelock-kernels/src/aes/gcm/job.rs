//! Messages as the kernels take them.

use core::mem::MaybeUninit;
use core::{mem, ptr};

use super::Key;
use crate::aes::BLOCK;
use crate::arch::blocks::Vector;

/// One whole message, as it may lie in a caller's record: what has no name is not read.
#[derive(Debug)]
#[repr(C)]
pub struct Job<'k> {
    begins: MaybeUninit<[usize; 2]>,
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Bytes of the text, any number.
    pub len: usize,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    room: MaybeUninit<usize>,
    /// An IV of twelve bytes, valid for reads; null if `block` has what comes of another.
    pub iv: *const [u8; 12],
    goes_on: MaybeUninit<[usize; 3]>,
    /// Additional data, valid for reads of `aad_len` bytes.
    pub aad: *const u8,
    /// Bytes of the additional data, any number.
    pub aad_len: usize,
    /// Schedule and powers of H of this message.
    pub key: &'k Key,
    /// Where the whole tag of an encryption goes, valid for writes; null for `block`, where that of a decryption
    /// always goes: the caller compares it, and wipes the target if it is not the one expected.
    pub place: *mut [u8; BLOCK],
    /// Before: the block before the first counter, if `iv` is null. After: the whole tag, if it has no other
    /// place.
    pub block: [u8; BLOCK],
}

impl<'k> Job<'k> {
    /// A message of `key`; without more, it has neither text nor additional data, and its tag stays in it.
    /// `iv` is valid until the job has run.
    #[inline(always)]
    #[must_use]
    pub fn new(key: &'k Key, iv: *const [u8; 12]) -> Self {
        Self {
            begins: MaybeUninit::uninit(),
            source: ptr::null(),
            len: 0,
            target: ptr::null_mut(),
            room: MaybeUninit::uninit(),
            iv,
            goes_on: MaybeUninit::uninit(),
            aad: ptr::null(),
            aad_len: 0,
            key,
            place: ptr::null_mut(),
            block: [0; BLOCK],
        }
    }

    /// [`Job::new`] with the block before the first counter.
    #[inline(always)]
    #[must_use]
    pub fn of_block(key: &'k Key, block: [u8; BLOCK]) -> Self {
        Self {
            block,
            ..Self::new(key, ptr::null())
        }
    }

    /// With a text of `len` bytes at `source`, which goes to `target`.
    #[inline(always)]
    #[must_use]
    pub fn text(mut self, source: *const u8, target: *mut u8, len: usize) -> Self {
        (self.source, self.target, self.len) = (source, target, len);
        self
    }

    /// With `len` bytes of additional data.
    #[inline(always)]
    #[must_use]
    pub fn aad(mut self, aad: *const u8, len: usize) -> Self {
        (self.aad, self.aad_len) = (aad, len);
        self
    }

    /// Whether the block before the first counter is known to count as one, as that of every IV of twelve
    /// bytes does. The block of another IV is a hash under a secret key, of which not a bit may show.
    #[inline(always)]
    pub(super) fn counts_from_one(&self) -> bool {
        !self.iv.is_null()
    }

    /// The block before the first counter (SP 800-38D, section 7.1, step 2).
    ///
    /// # Safety
    /// The job is valid.
    #[inline(always)]
    pub(super) unsafe fn j0(&self) -> u128 {
        if self.iv.is_null() {
            return halves(&raw const self.block);
        }
        // SAFETY: the caller's promise.
        unsafe { iv(self.iv) | 1 << 120 }
    }
}

/// What callers know of jobs that run together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// All have the same key.
    pub one_key: bool,
    /// All have as much text, and as much additional data.
    pub one_length: bool,
    /// All have an IV of twelve bytes.
    pub ivs: bool,
}

impl Known {
    /// What can be seen of `jobs`.
    #[must_use]
    pub fn of(jobs: &[Job<'_>]) -> Self {
        let Some(first) = jobs.first() else {
            return Self::default();
        };
        let all = |known: Self, job| known.and(first, job);
        jobs.iter().fold(Self::EVERYTHING, all)
    }

    /// All that can be claimed: of no job.
    pub(super) const EVERYTHING: Self = Self {
        one_key: true,
        one_length: true,
        ivs: true,
    };

    /// What is still known with `job` behind others, of which `first` is the first.
    #[inline(always)]
    pub(super) fn and(self, first: &Job<'_>, job: &Job<'_>) -> Self {
        let apart = job.len ^ first.len | job.aad_len ^ first.aad_len;
        Self {
            one_key: self.one_key & ptr::eq(job.key, first.key),
            one_length: self.one_length & (apart == 0),
            ivs: self.ivs & !job.iv.is_null(),
        }
    }

    /// Whether nothing is claimed of `jobs` that cannot be seen.
    #[must_use]
    pub fn is_true_of(self, jobs: &[Job<'_>]) -> bool {
        let seen = Self::of(jobs);
        self.one_key <= seen.one_key && self.one_length <= seen.one_length && self.ivs <= seen.ivs
    }
}

/// The block before the first counter (SP 800-38D, section 7.1, step 2).
#[derive(Clone, Copy, Debug)]
pub struct J0 {
    block: [u8; BLOCK],
    /// Whether it is known to count as one, as that of every IV of twelve bytes does. Of another IV it is
    /// a hash under a secret key, of which not a bit may show.
    pub(super) counts_from_one: bool,
}

impl J0 {
    /// That of an IV of twelve bytes.
    #[inline]
    #[must_use]
    pub fn of_iv12(iv: &[u8; 12]) -> Self {
        let mut block = [0; BLOCK];
        block[..12].copy_from_slice(iv);
        block[BLOCK - 1] = 1;
        Self {
            block,
            counts_from_one: true,
        }
    }

    /// Any other block.
    #[inline]
    #[must_use]
    pub fn of_block(block: [u8; BLOCK]) -> Self {
        Self {
            block,
            counts_from_one: false,
        }
    }

    /// The IV, if it has twelve bytes.
    #[must_use]
    pub fn iv12(&self) -> Option<&[u8; 12]> {
        self.block.first_chunk().filter(|_| self.counts_from_one)
    }

    /// The block itself.
    #[must_use]
    pub fn block(&self) -> &[u8; BLOCK] {
        &self.block
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.block.as_ptr()
    }
}

/// Additional data of at most a block, zeros behind it.
///
/// # Safety
/// `aad` is valid for reads of `len` bytes.
#[inline(always)]
pub(super) unsafe fn aad_of<V: Vector>(proof: V::Proof, aad: *const u8, len: usize) -> V::Single {
    // SAFETY: the caller's promise.
    unsafe {
        if !V::MASKS && len == BLOCK {
            V::Single::load(V::single(proof), aad)
        } else {
            V::load_rest(proof, aad, len.min(BLOCK)).first()
        }
    }
}

/// The IV, zeros in place of a counter.
///
/// # Safety
/// It is valid for reads.
#[inline(always)]
pub(super) unsafe fn iv(iv: *const [u8; 12]) -> u128 {
    // SAFETY: twelve bytes.
    let (low, high) = unsafe {
        let low: [u8; 8] = iv.cast::<[u8; 8]>().read();
        (low, iv.byte_add(8).cast::<[u8; 4]>().read())
    };
    u128::from(u64::from_le_bytes(low)) | u128::from(u32::from_le_bytes(high)) << 64
}

/// A block, read in two halves: a caller may have written it so, and then one load would wait until both
/// are in the cache.
#[inline(always)]
fn halves(block: *const [u8; BLOCK]) -> u128 {
    const { assert!(mem::offset_of!(Job<'_>, block) % 8 == 0 && align_of::<Job<'_>>() == 8) };
    // SAFETY: two aligned words of a job. Volatile, for the compiler would read them as one.
    let [low, high] = [0, 1].map(|n| unsafe { block.cast::<u64>().add(n).read_volatile() });
    u128::from(u64::from_le(low)) | u128::from(u64::from_le(high)) << 64
}

/// Where the tag of a job goes. That of a decryption is read again at once, to be compared: if the CPU knew where it
/// is stored only behind a choice, the read, and all behind it, would wait until the message has ended.
///
/// # Safety
/// `job` is valid.
#[inline(always)]
pub(super) unsafe fn place_of<const ENCRYPT: bool>(job: *mut Job<'_>) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let (place, own) = ((*job).place, &raw mut (*job).block);
        if ENCRYPT && !place.is_null() {
            place.cast()
        } else {
            own.cast()
        }
    }
}
