//! The operations: batches of every size and mix of keys, bad input, blinding, faults.

use lanelock_jobs::testing::{Random, machines};
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::rsa::{
    Blinding, BlindingJob, Failure, PrivateJob, PrivateKey, PrivateSize, PublicJob, PublicKey,
    PublicSize, make_blindings, private, private_without_check, public,
};
use openssl::bn::{BigNum, BigNumContext};

use super::{Numbers, Pair, bit, copy, pairs, power, published, random};

/// A message and what becomes of it.
struct Message<'k, const P: usize, const N: usize> {
    key: &'k PrivateKey<P, N>,
    blinding: Option<Blinding<N>>,
    input: Vec<u8>,
    output: Vec<u8>,
    result: Result<(), Failure>,
}

/// What an output holds before.
const BEFORE: u8 = 0xa5;

impl<'k, const P: usize, const N: usize> Message<'k, P, N> {
    fn new(key: &'k PrivateKey<P, N>, input: &BigNum) -> Self {
        let length = PrivateKey::<P, N>::BYTES;
        Self {
            key,
            blinding: None,
            input: input.to_vec_padded(length.try_into().unwrap()).unwrap(),
            output: vec![BEFORE; length],
            result: Err(Failure::Length),
        }
    }

    fn output(&self) -> BigNum {
        assert_eq!(self.result, Ok(()));
        BigNum::from_slice(&self.output).unwrap()
    }

    fn is_untouched(&self) -> bool {
        self.output.iter().all(|byte| *byte == BEFORE)
    }
}

fn run_private<const P: usize, const N: usize>(
    run: fn(Machine, &mut [PrivateJob<'_, P, N>]),
    machine: Machine,
    messages: &mut [Message<'_, P, N>],
) {
    let mut jobs: Vec<_> = messages
        .iter_mut()
        .map(|message| PrivateJob {
            key: message.key,
            blinding: message.blinding.as_mut(),
            input: &message.input,
            output: &mut message.output,
            result: message.result,
        })
        .collect();
    run(machine, &mut jobs);
    let results: Vec<_> = jobs.into_iter().map(|job| job.result).collect();
    for (message, result) in messages.iter_mut().zip(results) {
        message.result = result;
    }
}

fn run_public<const P: usize, const N: usize>(machine: Machine, messages: &mut [Message<'_, P, N>])
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let mut jobs: Vec<_> = messages
        .iter_mut()
        .map(|message| PublicJob {
            key: message.key.public(),
            input: &message.input,
            output: &mut message.output,
            result: message.result,
        })
        .collect();
    public(machine, &mut jobs);
    let results: Vec<_> = jobs.into_iter().map(|job| job.result).collect();
    for (message, result) in messages.iter_mut().zip(results) {
        message.result = result;
    }
}

fn blinding<const P: usize, const N: usize>(
    source: &mut Random,
    machine: Machine,
    key: &PrivateKey<P, N>,
) -> Blinding<N>
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let random: [[u8; 65]; N] = core::array::from_fn(|_| source.bytes(65).try_into().unwrap());
    let random = &random;
    let made = None;
    let mut jobs = [BlindingJob { key, random, made }];
    make_blindings(machine, &mut jobs);
    let [job] = jobs;
    job.made.unwrap()
}

/// Batches of `sizes` messages, with another key in each lane, some of them blinded.
fn batches<const P: usize, const N: usize>(machine: Machine, sizes: &[usize])
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let mut source = Random::new(N.try_into().unwrap());
    let pairs = pairs::<P, N>();
    for (round, size) in sizes.iter().enumerate() {
        let chosen: Vec<&Pair<P, N>> = (0..*size)
            .map(|i| &pairs[(i + 3 * round) % pairs.len()])
            .collect();
        let inputs: Vec<_> = chosen
            .iter()
            .map(|pair| &random(&mut source, 1024 * P + 100) % &pair.numbers.n)
            .collect();
        let mut messages: Vec<_> = chosen
            .iter()
            .zip(&inputs)
            .enumerate()
            .map(|(i, (pair, input))| {
                let mut message = Message::new(&pair.key, input);
                if round % 3 == 1 || (round % 3 == 2 && i % 2 == 1) {
                    message.blinding = Some(blinding(&mut source, machine, &pair.key));
                }
                message
            })
            .collect();
        run_private(private, machine, &mut messages);
        for (i, (message, pair)) in messages.iter().zip(&chosen).enumerate() {
            let Numbers { n, d, .. } = &pair.numbers;
            assert!(message.output() == power(&inputs[i], d, n), "{i} of {size}");
            if let Some(blinding) = &message.blinding {
                assert_eq!(blinding.uses(), 1);
            }
        }
        run_public(machine, &mut messages);
        for (i, (message, pair)) in messages.iter().zip(&chosen).enumerate() {
            let Numbers { n, e, .. } = &pair.numbers;
            assert!(message.output() == power(&inputs[i], e, n), "{i} of {size}");
        }
    }
}

#[test]
fn batches_of_every_size() {
    for machine in machines() {
        batches::<2, 4>(machine, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 17]);
    }
}

#[test]
fn batches_of_larger_keys() {
    for machine in machines() {
        batches::<3, 6>(machine, &[8, 3, 5]);
        batches::<4, 8>(machine, &[8, 2, 5]);
    }
}

/// The published ciphertexts (Wycheproof, `rsa_pkcs1_*_test`): those of a right length, decrypted,
/// are the padded message; the others are refused.
fn decrypt_published<const P: usize, const N: usize>(machine: Machine, most: usize)
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    let vectors = published::<P, N>();
    let keys: Vec<PrivateKey<P, N>> = vectors
        .iter()
        .map(|(numbers, ..)| numbers.with(PrivateKey::new).unwrap())
        .collect();
    let mut valid = 0;
    let mut messages: Vec<_> = vectors
        .iter()
        .zip(&keys)
        .take(most)
        .map(|((_, ciphertext, _), key)| Message {
            input: ciphertext.clone(),
            ..Message::new(key, &bit(0))
        })
        .collect();
    run_private(private, machine, &mut messages);
    for (message, (numbers, ciphertext, text)) in messages.iter().zip(&vectors) {
        let number = BigNum::from_slice(ciphertext).unwrap();
        if ciphertext.len() != PrivateKey::<P, N>::BYTES {
            assert_eq!(message.result, Err(Failure::Length));
            assert!(message.is_untouched());
        } else if number >= numbers.n {
            assert_eq!(message.result, Err(Failure::OutOfRange));
            assert!(message.is_untouched());
        } else {
            assert!(message.output() == power(&number, &numbers.d, &numbers.n));
        }
        if let Some(text) = text {
            let (padding, found) = message.output.split_at(message.output.len() - text.len());
            assert_eq!(found, text);
            assert!(padding.starts_with(&[0, 2]) && padding.ends_with(&[0]));
            valid += 1;
        }
    }
    assert!(valid > most / 4, "{valid} valid ciphertexts");
}

#[test]
fn published_ciphertexts() {
    for (i, machine) in machines().into_iter().enumerate() {
        let portable = i == machines().len() - 1;
        let most = if portable { 16 } else { usize::MAX };
        let most_of = |len: usize| most.min(len);
        decrypt_published::<2, 4>(machine, most_of(published::<2, 4>().len()));
        decrypt_published::<3, 6>(machine, most_of(published::<3, 6>().len()));
        decrypt_published::<4, 8>(machine, most_of(published::<4, 8>().len()));
    }
}

/// A bad message in each lane, among good ones: it alone is refused, and nothing of it is touched.
#[test]
fn bad_input_is_refused_in_its_lane() {
    let one = bit(0);
    let pairs = pairs::<2, 4>();
    for machine in machines() {
        let mut source = Random::new(4);
        for lane in 0..8 {
            let messages = |source: &mut Random| -> Vec<_> {
                let pairs = pairs.iter().take(8).enumerate();
                pairs
                    .map(|(i, pair)| {
                        let n = &pair.numbers.n;
                        let good = match i {
                            0 => BigNum::new().unwrap(),
                            1 => bit(0),
                            2 => n - &one,
                            _ => &random(source, 2100) % n,
                        };
                        Message::new(&pair.key, &good)
                    })
                    .collect()
            };
            let n = &pairs[lane].numbers.n;
            let mut longer = vec![0];
            longer.extend((n - &one).to_vec());
            let bad = [
                (n.to_vec(), Failure::OutOfRange),
                ((n + &one).to_vec(), Failure::OutOfRange),
                (vec![0xff; 256], Failure::OutOfRange),
                (vec![1; 255], Failure::Length),
                (vec![], Failure::Length),
                (longer, Failure::Length),
            ];
            let (input, failure) = bad[lane % bad.len()].clone();
            let mut private_messages = messages(&mut source);
            private_messages[lane].input = input.clone();
            private_messages[lane].blinding =
                Some(blinding(&mut source, machine, &pairs[lane].key));
            run_private(private, machine, &mut private_messages);
            let kept = private_messages[lane].blinding.as_ref().unwrap();
            assert_eq!(kept.uses(), 0);

            let mut public_messages = messages(&mut source);
            public_messages[lane].input = input;
            run_public(machine, &mut public_messages);
            for (i, (secret, open)) in private_messages.iter().zip(&public_messages).enumerate() {
                if i == lane {
                    assert_eq!([secret.result, open.result], [Err(failure); 2]);
                    assert!(secret.is_untouched() && open.is_untouched());
                    continue;
                }
                let Numbers { n, e, d, .. } = &pairs[i].numbers;
                for (message, exponent) in [(secret, d), (open, e)] {
                    let input = BigNum::from_slice(&message.input).unwrap();
                    assert!(message.output() == power(&input, exponent, n), "lane {i}");
                }
            }
        }
    }
}

#[test]
fn outputs_of_a_wrong_length_are_refused() {
    let pair = &pairs::<2, 4>()[0];
    for machine in machines() {
        for length in [0, 255, 257] {
            let mut messages = [Message::new(&pair.key, &bit(7))];
            messages[0].output = vec![BEFORE; length];
            run_private(private, machine, &mut messages);
            assert_eq!(messages[0].result, Err(Failure::Length));
            run_public(machine, &mut messages);
            assert_eq!(messages[0].result, Err(Failure::Length));
            assert!(messages[0].is_untouched());
        }
    }
}

/// A key with one number changed: the result would give a prime away, and does not leave.
#[test]
fn faults_are_found() {
    let changes: [fn(&mut Numbers); 5] = [
        |key| key.exponents[0] = &key.exponents[0] - &bit(0),
        |key| key.exponents[1] = &key.exponents[1] - &bit(9),
        |key| key.primes[0] = &key.primes[0] - &bit(2),
        |key| key.primes[1] = &key.primes[1] - &bit(500),
        |key| key.coefficient = &key.coefficient - &bit(0),
    ];
    let pairs = pairs::<2, 4>();
    for machine in machines() {
        let mut source = Random::new(31);
        for (lane, change) in changes.iter().enumerate() {
            let mut numbers = pairs[lane].numbers.copy();
            change(&mut numbers);
            let faulty: PrivateKey<2, 4> = numbers.with(PrivateKey::unchecked).unwrap();
            for blinded in [false, true] {
                let mut messages: Vec<_> = pairs
                    .iter()
                    .take(8)
                    .map(|pair| {
                        let input = &random(&mut source, 2100) % &pair.numbers.n;
                        let mut message = Message::new(&pair.key, &input);
                        message.blinding =
                            blinded.then(|| blinding(&mut source, machine, &pair.key));
                        message
                    })
                    .collect();
                messages[lane].key = &faulty;
                run_private(private, machine, &mut messages);
                for (i, (message, pair)) in messages.iter().zip(&pairs).enumerate() {
                    let input = BigNum::from_slice(&message.input).unwrap();
                    if i == lane {
                        assert_eq!(message.result, Err(Failure::Fault));
                        assert!(message.output.iter().all(|byte| *byte == 0));
                    } else {
                        let Numbers { n, d, .. } = &pair.numbers;
                        assert!(message.output() == power(&input, d, n));
                    }
                }
            }
        }
    }
}

/// Why results are checked: one that is wrong modulo one prime gives the other.
#[test]
fn an_unchecked_fault_gives_the_key_away() {
    let numbers = &pairs::<2, 4>()[0].numbers;
    let mut changed = numbers.copy();
    changed.exponents[0] = &changed.exponents[0] - &bit(0);
    let faulty: PrivateKey<2, 4> = changed.with(PrivateKey::unchecked).unwrap();
    let input = bit(77);
    for machine in machines() {
        let mut messages = [Message::new(&faulty, &input)];
        run_private(private_without_check, machine, &mut messages);
        let wrong = power(&messages[0].output(), &numbers.e, &numbers.n);
        let difference = &(&wrong + &numbers.n) - &input;
        let mut prime = BigNum::new().unwrap();
        let mut context = BigNumContext::new().unwrap();
        prime.gcd(&difference, &numbers.n, &mut context).unwrap();
        assert!(prime == numbers.primes[1]);
    }
}

#[test]
fn a_blinding_serves_many_messages_of_its_key() {
    let pairs = pairs::<2, 4>();
    for machine in machines() {
        let mut source = Random::new(8);
        let mut kept: Vec<_> = pairs
            .iter()
            .take(5)
            .map(|pair| Some(blinding(&mut source, machine, &pair.key)))
            .collect();
        for uses in 1..5 {
            let mut messages: Vec<_> = pairs
                .iter()
                .zip(&mut kept)
                .map(|(pair, kept)| {
                    let mut message = Message::new(&pair.key, &random(&mut source, 2047));
                    message.blinding = kept.take();
                    message
                })
                .collect();
            let before: Vec<_> = messages
                .iter()
                .map(|message| message.blinding.clone().unwrap())
                .collect();
            run_private(private, machine, &mut messages);
            for (i, message) in messages.into_iter().enumerate() {
                let Numbers { n, d, .. } = &pairs[i].numbers;
                let input = BigNum::from_slice(&message.input).unwrap();
                assert!(message.output() == power(&input, d, n));
                let after = message.blinding.unwrap();
                assert!(!after.shares_a_number(&before[i]));
                assert_eq!(after.uses(), uses);
                kept[i] = Some(after);
            }
        }
    }
}

#[test]
fn a_blinding_of_another_key_is_a_fault() {
    let pairs = pairs::<2, 4>();
    for machine in machines() {
        let mut source = Random::new(1);
        let mut messages = [Message::new(&pairs[0].key, &bit(1000))];
        messages[0].blinding = Some(blinding(&mut source, machine, &pairs[1].key));
        run_private(private, machine, &mut messages);
        assert_eq!(messages[0].result, Err(Failure::Fault));
        assert!(messages[0].output.iter().all(|byte| *byte == 0));
    }
}

/// Random numbers without an inverse make no blinding; those of other lanes do.
#[test]
fn what_cannot_be_inverted_makes_no_blinding() {
    let pairs = pairs::<2, 4>();
    for machine in machines() {
        let mut source = Random::new(1);
        let numbers: Vec<[[u8; 65]; 4]> = pairs
            .iter()
            .enumerate()
            .map(|(i, pair)| {
                let Numbers { n, primes, .. } = &pair.numbers;
                let number = match i {
                    1 => BigNum::new().unwrap(),
                    2 => &primes[0] * &BigNum::from_u32(12345).unwrap(),
                    3 => copy(&primes[1]),
                    4 => copy(n),
                    _ => random(&mut source, 2080),
                };
                let bytes = number.to_vec_padded(260).unwrap();
                core::array::from_fn(|block| bytes[65 * block..][..65].try_into().unwrap())
            })
            .collect();
        let mut jobs: Vec<_> = pairs
            .iter()
            .zip(&numbers)
            .map(|(pair, random)| BlindingJob {
                key: &pair.key,
                random,
                made: None,
            })
            .collect();
        make_blindings(machine, &mut jobs);
        for (i, job) in jobs.iter().enumerate() {
            assert_eq!(job.made.is_some(), !(1..=4).contains(&i), "{i}");
        }
    }
}

#[test]
fn sizes_in_bytes() {
    assert_eq!(PrivateKey::<2, 4>::BYTES, 256);
    assert_eq!(PublicKey::<6>::BYTES, 384);
    assert_eq!(PublicKey::<8>::BYTES, 512);
}

#[test]
fn an_empty_burst_is_nothing() {
    for machine in machines() {
        private::<2, 4>(machine, &mut []);
        public::<4>(machine, &mut []);
        make_blindings::<2, 4>(machine, &mut []);
    }
}
