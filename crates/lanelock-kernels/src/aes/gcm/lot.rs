//! As many messages as a register has blocks: what each has one block of shares a register with the
//! others' — additional data, lengths, the reduction, tags.

use super::products::{Sum, lengths};
use super::table::{Table, sum_of_halves};
use super::{Job, aad_of, place_of};
use crate::arch::blocks::Vector;
use crate::arrays::{from_fn, map};

/// As many jobs as a register has blocks, and others to make four.
pub(super) type Lot<'k> = [*mut Job<'k>; 4];

/// `count` jobs from `first` on, at most four, and `filler`.
///
/// # Safety
/// There are so many.
#[inline(always)]
pub(super) unsafe fn lot<'k>(first: *mut Job<'k>, count: usize, filler: *mut Job<'k>) -> Lot<'k> {
    // SAFETY: the caller's promise.
    let job = |i| unsafe { first.add(i) };
    from_fn(|i| if i < count { job(i) } else { filler })
}

/// What comes last in each hash: the lengths, the same in all, and with one key their product.
/// `ONE_KEY`: all messages have the same.
pub(super) struct Ends<V, const ONE_KEY: bool> {
    lengths: V,
    product: Sum<V>,
}

impl<V: Vector, const ONE_KEY: bool> Ends<V, ONE_KEY> {
    /// # Safety
    /// The job is valid.
    #[inline(always)]
    pub unsafe fn of(proof: V::Proof, first: *mut Job<'_>) -> Self {
        // SAFETY: the caller's promise.
        let (aad_len, len) = unsafe { ((*first).aad_len, (*first).len) };
        let mut ends = Self {
            lengths: lengths(proof, aad_len, len),
            product: Sum::zero(proof),
        };
        if ONE_KEY {
            // SAFETY: the caller's promise.
            unsafe { ends.product = product::<V, ONE_KEY>(ends.lengths, [first; 4]) };
        }
        ends
    }

    /// The sums of `jobs`, with nothing before the lengths.
    ///
    /// # Safety
    /// The jobs are valid.
    #[inline(always)]
    pub unsafe fn sum(&self, jobs: Lot<'_>) -> Sum<V> {
        if ONE_KEY {
            return self.product;
        }
        // SAFETY: the caller's promise.
        unsafe { product::<V, ONE_KEY>(self.lengths, jobs) }
    }

    /// [`Ends::sum`] of jobs that differ in their lengths.
    ///
    /// # Safety
    /// As for [`Ends::sum`].
    #[inline(always)]
    pub unsafe fn sum_of_each(proof: V::Proof, jobs: Lot<'_>) -> Sum<V> {
        let single = V::single(proof);
        // SAFETY: the caller's promise.
        unsafe {
            // Of each half an eighth, as a number.
            let lengths = map(jobs, |job| {
                let bytes = ((*job).aad_len as u128) << 64 | (*job).len as u128;
                V::Single::splat(single, bytes)
            });
            let lengths = V::from_singles(proof, lengths).shl64(3);
            product::<V, ONE_KEY>(lengths.coefficients_of_numbers(), jobs)
        }
    }
}

/// Of the last blocks that are hashed.
///
/// # Safety
/// The jobs are valid.
#[inline(always)]
unsafe fn product<V: Vector, const ONE_KEY: bool>(last: V, jobs: Lot<'_>) -> Sum<V> {
    let proof = last.proof();
    // SAFETY: the caller's promise.
    let (h, h_sum) = unsafe { powers::<V, ONE_KEY>(proof, jobs, 1) };
    Sum::product(last, h, h_sum)
}

/// Adds additional data, as much of each job and at most a block, before so many `blocks` of text.
///
/// # Safety
/// The jobs are valid; `blocks` is at most two less than there are powers.
#[inline(always)]
pub(super) unsafe fn add_aad<V: Vector, const ONE_KEY: bool>(
    sum: &mut Sum<V>,
    jobs: Lot<'_>,
    blocks: usize,
) {
    let proof = sum.proof();
    // SAFETY: the caller's promises.
    unsafe {
        let len = (*jobs[0]).aad_len;
        if len > 0 {
            let aad = map(jobs, |job| aad_of::<V>(proof, (*job).aad, len));
            let (h, h_sum) = powers::<V, ONE_KEY>(proof, jobs, blocks + 2);
            sum.add(V::from_singles(proof, aad).coefficients(), h, h_sum);
        }
    }
}

/// Leaves the tags of jobs in their places; `sum` has all that is hashed.
///
/// # Safety
/// The jobs are valid, and those of a register's blocks differ, or write to a place of their own.
#[inline(always)]
pub(super) unsafe fn write_tags<V: Vector, const ENCRYPT: bool>(
    jobs: Lot<'_>,
    sum: Sum<V>,
    masks: V,
) {
    let tags = sum.values().xor(masks);
    // SAFETY: the caller's promises.
    unsafe { tags.scatter(map(jobs, |job| place_of::<ENCRYPT>(job)).as_ptr()) }
}

/// A power of each job's H, and the sums of their halves.
///
/// # Safety
/// The jobs are valid; `power` is one that a key has.
#[inline(always)]
pub(super) unsafe fn powers<V: Vector, const ONE_KEY: bool>(
    proof: V::Proof,
    jobs: Lot<'_>,
    power: usize,
) -> (V, V) {
    // SAFETY: the caller's promises.
    unsafe {
        if ONE_KEY {
            return Table::splat((*jobs[0]).key.powers(), proof, power);
        }
        let single = V::single(proof);
        let of_each = map(jobs, |job| {
            let place = Table::place((*job).key.powers(), power);
            place.load::<V::Single>(single, true).0
        });
        let h = V::from_singles(proof, of_each);
        (h, sum_of_halves(h))
    }
}
