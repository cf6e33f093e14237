//! The private operation (RFC 8017, 5.1.2) of a batch, and the blindings that queues keep for it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ptr;

use lanelock_core::engine::{PerQueue, QueueToken, Wiped};
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::rsa::{
    Blinding, BlindingJob, PrivateJob, PrivateKey, PrivateSize, make_blindings, private,
};
use lanelock_public_key::{KeyError, KeyReason, KeyTransform};
use zeroize::Zeroizing;

use super::super::session::{LANES, PerLane};
use super::super::{fork, random};
use super::{import, reason};

/// A secret key and its blindings.
pub(super) struct Private<const P: usize, const N: usize> {
    key: PrivateKey<P, N>,
    /// `None` if the transform asked for no blinding.
    blindings: Option<PerQueue<Blindings<N>>>,
}

/// The blindings of one key on one queue, used in turn: as many as the key has had blocks in one
/// batch, [`LANES`] at most.
struct Blindings<const N: usize> {
    kept: VecDeque<Pair<N>>,
    /// The process that made them: a child makes its own.
    generation: u64,
}

type Pair<const N: usize> = Box<Wiped<Blinding<N>>>;

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
        let pair = size_of::<Blinding<N>>() + size_of::<Pair<N>>();
        match self.blindings {
            Some(_) => size_of::<Blindings<N>>() + LANES * pair,
            None => 0,
        }
    }

    /// The blindings of this key on `queue`, if it is to have any.
    fn kept<'s>(&'s self, queue: &'s mut QueueToken) -> Option<&'s mut VecDeque<Pair<N>>> {
        let generation = fork::generation();
        let make = || {
            Ok::<_, Infallible>(Blindings {
                kept: VecDeque::with_capacity(LANES),
                generation,
            })
        };
        let Ok(blindings) = self.blindings.as_ref()?.get_or_try_make(queue, make);
        if blindings.generation != generation {
            blindings.kept.clear();
            blindings.generation = generation;
        }
        Some(&mut blindings.kept)
    }

    /// The blinding that has rested longest, if there is one.
    fn take(&self, queue: &mut QueueToken) -> Option<Pair<N>> {
        self.kept(queue)?.pop_front()
    }

    fn give_back(&self, queue: &mut QueueToken, pair: Pair<N>) {
        if let Some(kept) = self.kept(queue) {
            kept.push_back(pair);
        }
    }

    fn discard_all(&self, queue: &mut QueueToken) {
        if let Some(kept) = self.kept(queue) {
            kept.clear();
        }
    }
}

/// Makes the blindings that blocks should have and lack, or that have done their work: of all keys
/// together, so that a batch waits for no more than one such call. Where one is due, those that
/// soon will be come along: making several costs little more than making one. A block left without
/// has an error.
fn complete<const P: usize, const N: usize>(
    machine: Machine,
    roots: &mut [Root<'_, P, N>],
    blindings: &mut [Option<Pair<N>>],
) where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    let uses = |lane: usize| match (&roots[lane].key.blindings, &blindings[lane]) {
        (None, _) => 0,
        (Some(_), Some(pair)) => pair.uses(),
        (Some(_), None) => Blinding::<N>::RENEW_AFTER,
    };
    let due = |least| (0..roots.len()).filter(move |&lane| uses(lane) >= least);
    if due(Blinding::<N>::RENEW_AFTER).next().is_none() {
        return;
    }
    let lanes: PerLane<usize> = due(Blinding::<N>::RENEW_AFTER / 4 * 3).collect();
    let mut bytes = Zeroizing::new([[[0; 65]; N]; LANES]);
    if let Err(reason) = random::fill(bytes[..lanes.len()].as_flattened_mut().as_flattened_mut()) {
        for &lane in &lanes {
            roots[lane].result = Err(reason);
        }
        return;
    }
    let mut jobs: PerLane<_> = lanes
        .iter()
        .zip(bytes.iter())
        .map(|(&lane, random)| BlindingJob {
            key: &roots[lane].key.key,
            random,
            made: None,
        })
        .collect();
    make_blindings(machine, &mut jobs);
    // Copied, so that what stays behind is wiped.
    let made: PerLane<_> = jobs.iter().map(|job| job.made.clone()).collect();
    drop(jobs);
    for (lane, made) in lanes.into_iter().zip(made) {
        match (made, &mut blindings[lane]) {
            (Some(made), Some(place)) => ***place = made,
            (Some(made), place) => *place = Some(Box::new(Wiped::new(made))),
            (None, place) => {
                *place = None;
                roots[lane].result = Err(KeyReason::Fault);
            }
        }
    }
}

/// Takes the root of every block, checked with the public exponent.
pub(super) fn take_roots<const P: usize, const N: usize>(
    machine: Machine,
    queue: &mut QueueToken,
    roots: &mut [Root<'_, P, N>],
) where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    let mut blindings = PerLane::new();
    for root in roots.iter_mut() {
        root.result = Ok(());
        blindings.push(root.key.take(queue));
    }
    complete(machine, roots, &mut blindings);
    // Without the blinding that it should have, a block does not run.
    let ready = roots.iter_mut().zip(&mut blindings);
    let ready = ready.filter(|(root, _)| root.result.is_ok());
    let mut jobs: PerLane<_> = ready
        .map(|(root, blinding)| PrivateJob {
            key: &root.key.key,
            blinding: blinding.as_mut().map(|pair| &mut ***pair),
            input: root.input,
            output: root.output,
            result: Ok(()),
        })
        .collect();
    private(machine, &mut jobs);
    let results: PerLane<_> = jobs.iter().map(|job| job.result.map_err(reason)).collect();
    drop(jobs);
    let ready = roots.iter_mut().filter(|root| root.result.is_ok());
    for (root, result) in ready.zip(results) {
        root.result = result;
    }
    // After a fault no blinding of that key is trusted any more, used in this batch or not.
    let is_faulty = |key| {
        let mut faults = roots
            .iter()
            .filter(|root| root.result == Err(KeyReason::Fault));
        faults.any(|root| ptr::eq(root.key, key))
    };
    for (root, blinding) in roots.iter().zip(blindings) {
        match blinding {
            _ if is_faulty(root.key) => root.key.discard_all(queue),
            Some(pair) => root.key.give_back(queue, pair),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
