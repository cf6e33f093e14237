//! Which messages take this way: the results of both ways are alike.

use std::cell::Cell;

use lanelock_core::algorithm::Order;
use lanelock_core::engine::{Capability, Engine, EngineSession};
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Cipher, Device, Hash, Mac, Op, SessionError, Transform};
use lanelock_kernels::Machine;

use crate::{Tier, catalogue};

thread_local! {
    /// Messages that this thread has interleaved.
    pub(super) static RAN: Cell<usize> = const { Cell::new(0) };
}

/// An engine of chains alone: with all of [`Native`](crate::Native), this program would compile every kernel anew.
struct Chains {
    machine: Machine,
    capabilities: Vec<Capability>,
}

impl Engine for Chains {
    fn name(&self) -> &'static str {
        "chains"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        let Algorithm::Chain(order, cipher, mac) = transform.algorithm() else {
            unreachable!("the sessions below are of chains");
        };
        let session = catalogue::chain(self.machine, transform, order, cipher, mac);
        Ok(session.expect("a tier with the hash"))
    }
}

/// How many messages of a burst are interleaved; each is authenticated from `auth_from` on.
fn interleaved(
    tier: Tier,
    (order, hash, direction): (Order, Hash, Direction),
    lengths: &[usize],
    auth_from: usize,
) -> usize {
    let machine = Machine::of_tier(tier).expect("a tier of this CPU");
    let capabilities = catalogue::capabilities(machine);
    let chains = Chains {
        machine,
        capabilities,
    };
    let device = Device::builder().engine(chains).build();
    let algorithm = Algorithm::Chain(order, Cipher::AesCbc, Mac::Hmac(hash));
    let transform = Transform::new(algorithm, direction, &[1; 16], &[2; 20]);
    let session = device.session(transform).expect("a tier with the hash");
    let mut data: Vec<_> = lengths.iter().map(|&len| vec![3; len]).collect();
    let mut tags = vec![vec![0; session.tag_len()]; lengths.len()];
    let mut ops: Vec<_> = data
        .iter_mut()
        .zip(&mut tags)
        .map(|(data, tag)| {
            let len = data.len();
            let op = Op::new(&session, Buffer::in_place(data)).iv(&[4; 16]);
            let op = op.auth_range(auth_from..len);
            match direction {
                Direction::Forward => op.tag(tag),
                Direction::Reverse => op.expected_tag(tag),
            }
        })
        .collect();
    let before = RAN.get();
    let _wrong_tags_fail = device.queue_pair(1).process(&mut ops);
    RAN.get() - before
}

/// Tiers that offer `hash`, each with whether it interleaves.
fn tiers(hash: Hash) -> impl Iterator<Item = (Tier, bool)> {
    let has_kernel = matches!(hash, Hash::Sha1 | Hash::Sha224 | Hash::Sha256);
    let ni = Machine::best().has_sha();
    Tier::available()
        .filter(move |&tier| tier != Tier::AesNi || (ni && has_kernel))
        .map(move |tier| (tier, ni && has_kernel && tier != Tier::Portable))
}

const KINDS: [(Order, Direction); 4] = [
    (Order::EncryptThenMac, Direction::Forward),
    (Order::EncryptThenMac, Direction::Reverse),
    (Order::MacThenEncrypt, Direction::Forward),
    (Order::MacThenEncrypt, Direction::Reverse),
];

#[test]
fn a_message_alone_is_interleaved_unless_it_is_short() {
    for hash in [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha512] {
        for (tier, interleaves) in tiers(hash) {
            for (order, direction) in KINDS {
                let kind = (order, hash, direction);
                for (len, long) in [(16, false), (176, false), (192, true), (8192, true)] {
                    let ran = interleaved(tier, kind, &[len], 0);
                    let expected = usize::from(interleaves && long);
                    assert_eq!(ran, expected, "{tier:?} {kind:?} {len}");
                }
            }
        }
    }
}

#[test]
fn of_several_the_one_that_is_three_times_as_long_as_the_next() {
    for (tier, interleaves) in tiers(Hash::Sha1) {
        for (order, direction) in KINDS {
            let kind = (order, Hash::Sha1, direction);
            let verifies_first = kind == (Order::EncryptThenMac, Hash::Sha1, Direction::Reverse);
            let long = usize::from(interleaves && !verifies_first);
            for (lengths, expected) in [
                (&[64, 64][..], 0),
                (&[48, 128, 64], 0),
                (&[64, 176], 0),
                (&[64, 192], long),
                (&[512, 64, 16, 64], long),
            ] {
                let ran = interleaved(tier, kind, lengths, 0);
                assert_eq!(ran, expected, "{tier:?} {kind:?} {lengths:?}");
            }
        }
    }
}

#[test]
fn ranges_that_do_not_nest_take_two_passes() {
    for (tier, _) in tiers(Hash::Sha256) {
        for (order, direction) in KINDS {
            let kind = (order, Hash::Sha256, direction);
            assert_eq!(interleaved(tier, kind, &[256], 16), 0, "{tier:?} {kind:?}");
        }
    }
}
