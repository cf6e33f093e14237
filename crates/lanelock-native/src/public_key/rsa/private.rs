//! The private operation (RFC 8017, 5.1.2) of a batch, and the blindings that queues keep for it.

use std::collections::VecDeque;

use lanelock_core::engine::{PerQueue, QueueToken};
use lanelock_core::public_key::{KeyError, KeyReason, KeyTransform};
use lanelock_kernels::public_key::rsa::{
    Blinding, BlindingJob, Kernel, PrivateJob, PrivateKey, make_blindings, private,
};
use zeroize::Zeroizing;

use super::super::random;
use super::super::session::{LANES, PerLane};
use super::{import, reason};

/// A secret key and its blindings.
pub(super) struct Private<const P: usize, const N: usize> {
    key: PrivateKey<P, N>,
    /// `None` if the transform asked for no blinding.
    blindings: Option<PerQueue<Blindings<N>>>,
}

/// The blindings of one key on one queue, used in turn. As many as there are lanes, so that a
/// batch of one key has them all; made together, as that costs no more than one.
///
/// Between batches there are none, or [`LANES`].
struct Blindings<const N: usize>(VecDeque<Box<Blinding<N>>>);

/// A block to take the root of.
pub(super) struct Root<'j, const P: usize, const N: usize> {
    pub key: &'j Private<P, N>,
    /// As long as the modulus.
    pub input: &'j [u8],
    /// As long as the modulus; the root, where the result says so.
    pub output: &'j mut [u8],
    pub result: Result<(), KeyReason>,
}

impl<const P: usize, const N: usize> Private<P, N> {
    pub(super) fn open(transform: &KeyTransform) -> Result<Self, KeyError> {
        Ok(Self {
            key: import::private(transform)?,
            blindings: transform.is_blinded().then(PerQueue::new),
        })
    }

    /// Bytes of the blindings of a queue.
    pub(super) fn kept_per_queue(&self) -> usize {
        let pair = size_of::<Blinding<N>>() + size_of::<Box<Blinding<N>>>();
        match self.blindings {
            Some(_) => size_of::<Blindings<N>>() + LANES * pair,
            None => 0,
        }
    }

    /// A blinding for the next block, `None` if the key goes without. For the `first` block of a
    /// batch all are there, and all are renewed if one has done its work.
    fn take(
        &self,
        kernel: Kernel,
        queue: &mut QueueToken,
        first: bool,
    ) -> Result<Option<Box<Blinding<N>>>, KeyReason> {
        let Some(blindings) = &self.blindings else {
            return Ok(None);
        };
        let make = || Ok::<_, KeyReason>(Blindings(VecDeque::with_capacity(LANES)));
        let blindings = blindings.get_or_try_make(queue, make)?;
        if blindings.0.is_empty() || first && blindings.are_worn() {
            blindings.renew(kernel, &self.key)?;
        }
        // There are as many as lanes.
        blindings.0.pop_front().map(Some).ok_or(KeyReason::Engine)
    }

    /// Gives a blinding back. After a fault none is trusted any more.
    fn give_back(&self, queue: &mut QueueToken, blinding: Option<Box<Blinding<N>>>, fault: bool) {
        let (Some(blindings), Some(blinding)) = (&self.blindings, blinding) else {
            return;
        };
        let make = || Err(());
        let Ok(blindings) = blindings.get_or_try_make(queue, make) else {
            return;
        };
        blindings.0.push_back(blinding);
        if fault {
            blindings.0.clear();
        }
    }
}

impl<const N: usize> Blindings<N> {
    fn are_worn(&self) -> bool {
        let mut uses = self.0.iter().map(|pair| pair.uses());
        self.0.len() < LANES || uses.any(|uses| uses >= Blinding::<N>::RENEW_AFTER)
    }

    fn renew<const P: usize>(
        &mut self,
        kernel: Kernel,
        key: &PrivateKey<P, N>,
    ) -> Result<(), KeyReason> {
        self.0.clear();
        let mut bytes = Zeroizing::new([[[0; 65]; N]; LANES]);
        random::fill(bytes.as_flattened_mut().as_flattened_mut())?;
        let mut jobs = bytes.each_ref().map(|random| BlindingJob {
            key,
            random,
            made: None,
        });
        make_blindings(kernel, &mut jobs);
        if jobs.iter().any(|job| job.made.is_none()) {
            return Err(KeyReason::Fault);
        }
        // Copied, so that what stays behind is wiped.
        let made = jobs.iter().filter_map(|job| job.made.clone());
        self.0.extend(made.map(Box::new));
        Ok(())
    }
}

/// Takes the root of every block, checked with the public exponent.
pub(super) fn take_roots<const P: usize, const N: usize>(
    kernel: Kernel,
    queue: &mut QueueToken,
    roots: &mut [Root<'_, P, N>],
) {
    let mut blindings = PerLane::new();
    for lane in 0..roots.len() {
        let key = roots[lane].key;
        let first = !roots[..lane]
            .iter()
            .any(|other| std::ptr::eq(other.key, key));
        let taken = key.take(kernel, queue, first);
        roots[lane].result = taken.as_ref().map(|_| ()).map_err(|&reason| reason);
        blindings.push(taken.ok().flatten());
    }
    // Without the blinding that it should have, a block does not run.
    let ready = roots.iter_mut().zip(&mut blindings);
    let ready = ready.filter(|(root, _)| root.result.is_ok());
    let mut jobs: PerLane<_> = ready
        .map(|(root, blinding)| PrivateJob {
            key: &root.key.key,
            blinding: blinding.as_deref_mut(),
            input: root.input,
            output: root.output,
            result: Ok(()),
        })
        .collect();
    private(kernel, &mut jobs);
    let results: PerLane<_> = jobs.iter().map(|job| job.result.map_err(reason)).collect();
    drop(jobs);
    let ready = roots.iter_mut().filter(|root| root.result.is_ok());
    for (root, result) in ready.zip(results) {
        root.result = result;
    }
    for (root, blinding) in roots.iter().zip(blindings) {
        let fault = root.result == Err(KeyReason::Fault);
        root.key.give_back(queue, blinding, fault);
    }
}
