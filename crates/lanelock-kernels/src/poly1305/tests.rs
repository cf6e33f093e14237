//! Poly1305 on every machine against OpenSSL: the largest multiplier, sums and blocks that carry
//! through every limb, and random ones.

use std::vec;
use std::vec::Vec;

use openssl::pkey::{Id, PKey};
use openssl::sign::Signer;

use super::lanes::TEXT;
use super::{Authenticator, BLOCK, Element, Item, RUNS, Secret, authenticate};
use crate::machine::Machine;
use crate::testing::Random;

/// A one-time key and a message.
struct Case {
    key: [u8; 32],
    message: Vec<u8>,
}

impl Case {
    /// Message `number` of a burst, of `blocks` blocks.
    fn new(random: &mut Random, number: usize, blocks: usize) -> Self {
        let len = BLOCK * blocks;
        let key = match number % 3 {
            0 => [0xff; 32],
            _ => random.bytes(32).try_into().expect("32 bytes"),
        };
        let message = match number % 5 {
            // 2¹²⁹ − 1 in each block: every carry there is.
            0 => vec![0xff; len],
            // 2¹³⁰ − 6 and 2¹³⁰ − 5 come of sums with these.
            1 => [0xfb]
                .into_iter()
                .chain([0xff; BLOCK - 1])
                .cycle()
                .take(len)
                .collect(),
            2 => vec![0; len],
            _ => random.bytes(len),
        };
        Self { key, message }
    }

    fn item(&self) -> Item {
        let words: Vec<u32> = self
            .key
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let mut runs = [(self.message.as_ptr(), 0); RUNS];
        runs[TEXT].1 = self.message.len() / BLOCK;
        Item {
            secret: Secret::new(&words.try_into().expect("eight words")),
            runs,
            sum: Element::default(),
        }
    }

    fn tag(&self) -> Vec<u8> {
        let key = PKey::private_key_from_raw_bytes(&self.key, Id::POLY1305).expect("32 bytes");
        let mut signer = Signer::new_without_digest(&key).expect("Poly1305");
        signer.sign_oneshot_to_vec(&self.message).expect("a tag")
    }
}

fn agree(machine: Machine, cases: &[Case]) {
    let mut items: Vec<Item> = cases.iter().map(Case::item).collect();
    // SAFETY: the runs are the messages.
    unsafe { authenticate(Authenticator::of(machine), &mut items) };
    for (number, (item, case)) in items.iter().zip(cases).enumerate() {
        assert_eq!(
            item.secret.tag(item.sum)[..],
            case.tag(),
            "{machine}, message {number} of {}: {} blocks",
            cases.len(),
            case.message.len() / BLOCK,
        );
    }
}

#[test]
fn every_number_of_messages_and_blocks() {
    let mut random = Random::new(21);
    let mut machines = 0;
    for machine in Machine::all() {
        for blocks in (0..40).chain([95, 96, 97, 111, 112, 300]) {
            for count in [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33] {
                let cases: Vec<_> = (0..count)
                    .map(|number| Case::new(&mut random, number + blocks, blocks))
                    .collect();
                agree(machine, &cases);
            }
        }
        for _ in 0..50 {
            let cases: Vec<_> = (0..24)
                .map(|number| {
                    let blocks = random.below(150);
                    Case::new(&mut random, number, blocks)
                })
                .collect();
            agree(machine, &cases);
        }
        machines += 1;
    }
    assert!(machines > 0);
}
