//! Operations per second of RSA in full batches, beside OpenSSL one at a time.
//!
//! `cargo bench -p lanelock-kernels --bench rsa -- [bits] [batch]`. Both sides do the
//! same operations with the same keys, in turns, and the results are compared. OpenSSL's private
//! operation blinds and checks, as it does by default.

use std::hint::black_box;

use lanelock_kernels::public_key::rsa::{
    Blinding, BlindingJob, PrivateComponents, PrivateJob, PrivateKey, PrivateSize,
    PublicComponents, PublicJob, PublicKey, PublicSize, make_blindings, private,
    private_without_check, public,
};
use lanelock_kernels::{Digits, Machine};
use openssl::pkey::Private;
use openssl::rand::rand_bytes;
use openssl::rsa::{Padding, Rsa};
use turns::{compare, heading};

mod turns;

/// Keys, which the messages of a batch take in turn.
const KEYS: usize = 2;

fn main() {
    let mut arguments = std::env::args().filter(|a| a != "--bench").skip(1);
    let only: Option<u32> = arguments
        .next()
        .map(|bits| bits.parse().expect("a number of bits"));
    let batch = arguments
        .next()
        .map_or(8, |batch| batch.parse().expect("a number of messages"));
    let machine = Machine::best();
    if machine.digits() == Digits::Plain {
        println!("this CPU has no registers of digits");
        return;
    }
    heading(&format!("batch of {batch}"), "OpenSSL/s");
    let selected = |bits| only.is_none_or(|only| only == bits);
    if selected(2048) {
        size::<2, 4>(machine, batch);
    }
    if selected(3072) {
        size::<3, 6>(machine, batch);
    }
    if selected(4096) {
        size::<4, 8>(machine, batch);
    }
}

/// All rows of one size.
fn size<const P: usize, const N: usize>(machine: Machine, batch: usize)
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let bits = u32::try_from(PrivateKey::<P, N>::BYTES * 8).expect("a few thousand");
    let pairs: Vec<_> = (0..KEYS)
        .map(|_| {
            let theirs = Rsa::generate(bits).expect("a key");
            (prepare::<P, N>(&theirs), theirs)
        })
        .collect();
    let messages: Vec<Vec<u8>> = (0..batch)
        .map(|_| {
            let mut message = vec![0; PrivateKey::<P, N>::BYTES];
            rand_bytes(&mut message[1..]).expect("random bytes");
            message
        })
        .collect();
    let mut blindings: Vec<Blinding<N>> = (0..batch)
        .map(|i| blinding(machine, &pairs[i % KEYS].0))
        .collect();

    type Run<const P: usize, const N: usize> = fn(Machine, &mut [PrivateJob<'_, P, N>]);
    let rows: [(_, Run<P, N>, _); 3] = [
        (
            "private, no blinding, no check",
            private_without_check,
            false,
        ),
        ("private, blinding", private_without_check, true),
        ("private, blinding and check", private, true),
    ];
    let mut ours = vec![vec![0; PrivateKey::<P, N>::BYTES]; batch];
    let mut theirs = ours.clone();
    for (name, run, blind) in rows {
        let batched = || {
            let outputs = ours.iter_mut().zip(&mut blindings);
            let mut jobs: Vec<_> = outputs
                .enumerate()
                .map(|(i, (output, blinding))| PrivateJob {
                    key: &pairs[i % KEYS].0,
                    blinding: blind.then_some(blinding),
                    input: &messages[i],
                    output,
                    result: Ok(()),
                })
                .collect();
            run(machine, black_box(&mut jobs));
            assert!(jobs.iter().all(|job| job.result.is_ok()));
        };
        let one_by_one = || {
            for i in 0..batch {
                let key = &pairs[i % KEYS].1;
                key.private_encrypt(&messages[i], &mut theirs[i], Padding::NONE)
                    .expect("a result");
            }
        };
        compare(
            &format!("RSA-{bits} {name}"),
            (batch, batched),
            (batch, one_by_one),
        );
        assert!(ours == theirs, "RSA-{bits} {name}");
    }
    let batched = || {
        let mut jobs: Vec<_> = ours
            .iter_mut()
            .enumerate()
            .map(|(i, output)| PublicJob {
                key: pairs[i % KEYS].0.public(),
                input: &messages[i],
                output,
                result: Ok(()),
            })
            .collect();
        public(machine, black_box(&mut jobs));
        assert!(jobs.iter().all(|job| job.result.is_ok()));
    };
    let one_by_one = || {
        for i in 0..batch {
            let key = &pairs[i % KEYS].1;
            key.public_encrypt(&messages[i], &mut theirs[i], Padding::NONE)
                .expect("a result");
        }
    };
    compare(
        &format!("RSA-{bits} public"),
        (batch, batched),
        (batch, one_by_one),
    );
    assert!(ours == theirs, "RSA-{bits} public");
}

/// The same key for the machine.
fn prepare<const P: usize, const N: usize>(key: &Rsa<Private>) -> PrivateKey<P, N> {
    let bytes = |number: Option<&openssl::bn::BigNumRef>| number.expect("a part").to_vec();
    let (p, q) = (bytes(key.p()), bytes(key.q()));
    let (dp, dq) = (bytes(key.dmp1()), bytes(key.dmq1()));
    PrivateKey::new(PrivateComponents {
        public: PublicComponents {
            modulus: &key.n().to_vec(),
            exponent: &key.e().to_vec(),
        },
        primes: [&p, &q],
        exponents: [&dp, &dq],
        coefficient: &bytes(key.iqmp()),
    })
    .expect("OpenSSL makes good keys")
}

fn blinding<const P: usize, const N: usize>(machine: Machine, key: &PrivateKey<P, N>) -> Blinding<N>
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let mut random = [[0; 65]; N];
    rand_bytes(random.as_flattened_mut()).expect("random bytes");
    let mut jobs = [BlindingJob {
        key,
        random: &random,
        made: None,
    }];
    make_blindings(machine, &mut jobs);
    let [job] = jobs;
    job.made.expect("an invertible number")
}
