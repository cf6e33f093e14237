//! The groups of TLS that combine ML-KEM with a curve: against an independent implementation of ML-KEM
//! and the default provider's curves.

use std::cell::RefCell;
use std::ffi::CStr;

use ml_kem::kem::Decapsulate as _;
use ml_kem::{B32, EncapsulateDeterministic, EncodedSizeUser, KemCore, array::Array};

use crate::jobs::{Job, State, drive, is_in_job};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library};
use lanelock_testkit::has_lanes;

/// A group as the draft describes it, with the independent implementation of its parts.
struct Group {
    name: &'static CStr,
    ml_kem: &'static str,
    curve: Kind,
    /// The name of the curve's keys, and of the curve.
    names: (&'static CStr, &'static CStr),
    point_len: usize,
    is_ml_kem_first: bool,
    client: fn(&[u8; 96]) -> Client,
    serve: fn(&[u8; 32], &[u8]) -> Encapsulated,
}

/// ML-KEM's encapsulation key, and what finds the secret of a ciphertext.
type Client = (Vec<u8>, Decapsulate);
type Decapsulate = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A ciphertext and its secret.
type Encapsulated = (Vec<u8>, Vec<u8>);

const GROUPS: [Group; 3] = [
    Group {
        name: c"X25519MLKEM768",
        ml_kem: "ml-kem-768",
        curve: Kind::Raw(c"X25519"),
        names: (c"X25519", c"X25519"),
        point_len: 32,
        is_ml_kem_first: true,
        client: client::<ml_kem::MlKem768>,
        serve: serve::<ml_kem::MlKem768>,
    },
    Group {
        name: c"SecP256r1MLKEM768",
        ml_kem: "ml-kem-768",
        curve: Kind::Ec(c"P-256"),
        names: (c"EC", c"P-256"),
        point_len: 65,
        is_ml_kem_first: false,
        client: client::<ml_kem::MlKem768>,
        serve: serve::<ml_kem::MlKem768>,
    },
    Group {
        name: c"SecP384r1MLKEM1024",
        ml_kem: "ml-kem-1024",
        curve: Kind::Ec(c"P-384"),
        names: (c"EC", c"P-384"),
        point_len: 97,
        is_ml_kem_first: false,
        client: client::<ml_kem::MlKem1024>,
        serve: serve::<ml_kem::MlKem1024>,
    },
];

fn seed(bytes: &[u8]) -> B32 {
    Array::try_from(bytes).expect("32 bytes")
}

fn client<K: KemCore + 'static>(seeds: &[u8; 96]) -> Client {
    let (secret, public) = K::generate_deterministic(&seed(&seeds[..32]), &seed(&seeds[32..64]));
    let decapsulate = move |ciphertext: &[u8]| {
        let ciphertext = Array::try_from(ciphertext).expect("of this length");
        secret.decapsulate(&ciphertext).expect("no error").to_vec()
    };
    (public.as_bytes().to_vec(), Box::new(decapsulate))
}

/// For an encapsulation key.
fn serve<K: KemCore>(randomness: &[u8; 32], key: &[u8]) -> Encapsulated {
    let key = Array::try_from(key).expect("of this length");
    let key = K::EncapsulationKey::from_bytes(&key);
    let Ok((ciphertext, secret)) = key.encapsulate_deterministic(&seed(randomness)) else {
        panic!("it never fails");
    };
    (ciphertext.to_vec(), secret.to_vec())
}

impl Group {
    fn join(&self, ml_kem: &[u8], curve: &[u8]) -> Vec<u8> {
        match self.is_ml_kem_first {
            true => [ml_kem, curve].concat(),
            false => [curve, ml_kem].concat(),
        }
    }

    /// Where the curve's part is in `whole`.
    fn point_at(&self, whole: &[u8]) -> std::ops::Range<usize> {
        match self.is_ml_kem_first {
            true => whole.len() - self.point_len..whole.len(),
            false => 0..self.point_len,
        }
    }

    /// The parts, ML-KEM's first.
    fn split(&self, whole: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut ml_kem = whole.to_vec();
        let curve = ml_kem.drain(self.point_at(whole)).collect();
        (ml_kem, curve)
    }

    fn kind(&self) -> Kind {
        Kind::Raw(self.name)
    }

    /// The key of a client that sent `share`, in lanelock.
    fn of_share<'l>(&self, library: &'l Library, share: &[u8]) -> Result<Key<'l>, String> {
        Key::of_share(library, (self.name, self.name), share, LANELOCK)
    }

    /// A point of the default provider's for the curve.
    fn peer<'l>(&self, library: &'l Library, point: &[u8]) -> Key<'l> {
        Key::of_share(library, self.names, point, DEFAULT).expect("a point")
    }

    /// Lanelock as the server of `count` clients that share nothing with it: outside of jobs, then in
    /// as many jobs.
    fn check_server(&self, library: &Library, seeds: &[[u8; 96]]) {
        // The other implementation needs more stack than a job has.
        let clients: Vec<_> = seeds.iter().map(self.client).collect();
        let curves = clients
            .iter()
            .map(|_| Key::generate(library, self.curve, DEFAULT));
        let curves: Vec<_> = curves.collect();
        let shares = clients.iter().zip(&curves);
        let shares: Vec<_> = shares
            .map(|((key, _), curve)| self.join(key, &curve.share()))
            .collect();
        outside_and_in_jobs(&shares, |share| {
            let key = self.of_share(library, share).expect("a share");
            assert_eq!((key.provider().as_str(), &key.share()), ("lanelock", share));
            key.encapsulate().expect("encapsulated")
        })
        .into_iter()
        .zip(clients.iter().zip(&curves).cycle())
        .for_each(|((reply, secret), ((_, decapsulate), curve))| {
            let (ciphertext, point) = self.split(&reply);
            let agreed = curve.derive(&self.peer(library, &point)).expect("agreed");
            assert_eq!(secret, self.join(&decapsulate(&ciphertext), &agreed));
        });
    }

    /// Lanelock as the client of `count` servers that share nothing with it.
    fn check_client(&self, library: &Library, randomness: &[[u8; 96]]) {
        let keys = outside_and_in_jobs(randomness, |_| {
            Key::generate(library, self.kind(), LANELOCK)
        });
        let mut exchanges = Vec::new();
        for (key, seeds) in keys.into_iter().zip(randomness.iter().cycle()) {
            let (encapsulation_key, point) = self.split(&key.share());
            let randomness = seeds.first_chunk().expect("32 bytes");
            let (ciphertext, secret) = (self.serve)(randomness, &encapsulation_key);
            let curve = Key::generate(library, self.curve, DEFAULT);
            let agreed = curve.derive(&self.peer(library, &point)).expect("agreed");
            let reply = self.join(&ciphertext, &curve.share());
            // Another ciphertext carries another secret, of which nobody knows that it is wrong.
            let mut changed = ciphertext;
            changed[700] ^= 1;
            let changed = self.join(&changed, &curve.share());
            exchanges.push((key, reply, changed, self.join(&secret, &agreed)));
        }
        let secrets = outside_and_in_jobs(&exchanges, |(key, reply, changed, _)| {
            [reply, changed].map(|reply| key.decapsulate(reply).expect("a secret"))
        });
        for ([secret, other], (.., expected)) in secrets.into_iter().zip(exchanges.iter().cycle()) {
            assert_eq!(&secret, expected);
            let ((other, same), (ml_kem, agreed)) = (self.parts(&other), self.parts(expected));
            assert!(other.len() == 32 && other != ml_kem && same == agreed);
        }
    }

    /// The parts of a secret, ML-KEM's first.
    fn parts<'s>(&self, secret: &'s [u8]) -> (&'s [u8], &'s [u8]) {
        match self.is_ml_kem_first {
            true => secret.split_at(32),
            false => {
                let (curve, ml_kem) = secret.split_at(secret.len() - 32);
                (ml_kem, curve)
            }
        }
    }
}

/// What `work` makes of each of `items` outside of jobs, then of each in a job of its own.
pub(crate) fn outside_and_in_jobs<I, R>(items: &[I], work: impl Fn(&I) -> R) -> Vec<R> {
    let mut results: Vec<R> = items.iter().map(&work).collect();
    let in_jobs: Vec<RefCell<Option<R>>> = items.iter().map(|_| RefCell::default()).collect();
    let jobs = items.iter().zip(&in_jobs);
    let jobs = jobs.map(|(item, result)| Job::new(|| *result.borrow_mut() = Some(work(item))));
    let mut jobs: Vec<Job<'_>> = jobs.collect();
    drive(&mut jobs, |ready| ready.reverse());
    drop(jobs);
    results.extend(in_jobs.into_iter().filter_map(RefCell::into_inner));
    assert_eq!(results.len(), 2 * items.len());
    results
}

#[test]
fn secrets_are_those_of_an_independent_implementation() {
    let library = Library::new();
    let mut random = fastrand::Rng::with_seed(1);
    for group in &GROUPS {
        for count in [1, 8, 19] {
            let mut seeds = vec![[0; 96]; count];
            seeds.iter_mut().for_each(|seed| random.fill(seed));
            group.check_server(&library, &seeds);
            group.check_client(&library, &seeds);
        }
    }
}

/// What `work` gives in each of sixteen jobs, of which all but those that fill a batch pause once.
pub(crate) fn in_batches<R>(what: &str, work: impl Fn() -> R) -> Vec<R> {
    let results: Vec<RefCell<Option<R>>> = (0..16).map(|_| RefCell::default()).collect();
    let jobs = results.iter();
    let mut jobs: Vec<Job<'_>> = jobs
        .map(|result| Job::new(|| *result.borrow_mut() = Some(work())))
        .collect();
    let states: Vec<State> = jobs.iter_mut().map(Job::resume).collect();
    let paused = states.iter().filter(|&&state| state == State::Paused);
    // The eighth and the sixteenth fill the batches of both parts.
    let expected = if has_lanes() { 14 } else { 0 };
    assert_eq!(paused.count(), expected, "{what}: {states:?}");
    for job in jobs.iter_mut().filter(|job| job.state == State::Paused) {
        assert_eq!((job.resume(), job.pauses), (State::Finished, 1), "{what}");
    }
    drop(jobs);
    results
        .into_iter()
        .filter_map(RefCell::into_inner)
        .collect()
}

#[test]
fn both_parts_of_an_exchange_take_one_pause() {
    let library = Library::new();
    for group in &GROUPS {
        let name = group.name.to_str().expect("ASCII");
        for (client, is_ours) in keys_of_both(&library, group) {
            let share = client.share();
            let shared = |_: &()| group.of_share(&library, &share).expect("a share");
            for key in outside_and_in_jobs(&[()], shared) {
                let mut replies = in_batches(name, || key.encapsulate().expect("encapsulated"));
                for (reply, secret) in &replies {
                    assert_eq!(client.decapsulate(reply).as_ref(), Ok(secret));
                }
                let (reply, secret) = replies[0].clone();
                // Of the NIST curves' keys 3.5 does not tell the secret halves.
                if is_ours || matches!(group.curve, Kind::Raw(_)) {
                    let secrets = in_batches(name, || client.decapsulate(&reply));
                    assert!(secrets.iter().all(|it| it.as_ref() == Ok(&secret)));
                }
                replies.sort();
                replies.dedup();
                assert_eq!(replies.len(), 16, "keys are used once");
            }
        }
    }
}

/// Whether the default provider has the groups, so that keys are its own unless a job makes them.
pub(crate) fn default_provider_has_them() -> bool {
    unsafe { openssl_sys::OpenSSL_version_num() >= 0x3050_0000 }
}

/// Whether a key that is made now is held by lanelock, which says in its own words what it refuses.
fn is_held_by_lanelock() -> bool {
    !default_provider_has_them() || has_lanes() && is_in_job()
}

/// A key made outside of a job and one made in a job, and whether lanelock holds them.
fn keys_of_both<'l>(library: &'l Library, group: &Group) -> Vec<(Key<'l>, bool)> {
    let make = |_: &()| {
        let key = Key::generate(library, group.kind(), LANELOCK);
        (key, is_held_by_lanelock())
    };
    outside_and_in_jobs(&[()], make)
}

#[test]
fn shares_that_are_none_are_refused() {
    let library = Library::new();
    for group in &GROUPS {
        let name = group.name.to_str().expect("ASCII");
        let share = Key::generate(&library, group.kind(), LANELOCK).share();
        let refused = |share: &[u8], expected: &str| {
            let key = group.of_share(&library, share);
            let errors = key.and_then(|key| key.encapsulate()).expect_err("refused");
            let sentence = format!("lanelock: {name}: {expected}");
            assert!(!errors.is_empty(), "{expected}");
            let is_told = errors.contains(&sentence) || !is_held_by_lanelock();
            assert!(is_told, "{expected}: {errors}");
        };
        let point = group.point_at(&share).start;
        let ml_kem = if group.is_ml_kem_first {
            0
        } else {
            group.point_len
        };
        outside_and_in_jobs(&[(); 3], |()| {
            for len in [0, 1, 32, share.len() - 1] {
                refused(
                    &share[..len],
                    &format!("share of {len} bytes; it has {}", share.len()),
                );
            }
            let long = [&share[..], &[0]].concat();
            refused(&long, &format!("share of {} bytes", long.len()));
            // The first coefficient is 3329.
            let mut wrong = share.clone();
            wrong[ml_kem] = 0x01;
            wrong[ml_kem + 1] = wrong[ml_kem + 1] & 0xf0 | 0x0d;
            refused(
                &wrong,
                &format!("{}: key refused: a coefficient", group.ml_kem),
            );
            let mut wrong = share.clone();
            wrong[point..][..group.point_len].fill(0);
            if matches!(group.curve, Kind::Raw(_)) {
                return refused(
                    &wrong,
                    "the X25519 part of the share is not on the curve, or",
                );
            }
            refused(&wrong, "share with a");
            wrong[point..][..group.point_len].copy_from_slice(&share[point..][..group.point_len]);
            wrong[point + 40] ^= 1;
            refused(&wrong, "the P-");
            wrong[point] = 6;
            refused(&wrong, "share with a");
        });
    }
}

#[test]
fn replies_that_are_none_are_refused() {
    let library = Library::new();
    for group in &GROUPS {
        for (client, is_ours) in keys_of_both(&library, group) {
            let server = group.of_share(&library, &client.share()).expect("a share");
            let (reply, secret) = server.encapsulate().expect("encapsulated");
            let refused = |key: &Key<'_>, reply: &[u8], expected: &str| {
                let errors = key.decapsulate(reply).expect_err("refused");
                assert!(!errors.is_empty(), "{expected}");
                assert!(errors.contains(expected) || !is_ours, "{errors}");
            };
            outside_and_in_jobs(&[(); 3], |()| {
                assert_eq!(client.decapsulate(&reply).as_ref(), Ok(&secret));
                for wrong in [&reply[..1], &reply[1..], &[&reply[..], &[0]].concat()] {
                    refused(&client, wrong, &format!("reply of {} bytes", wrong.len()));
                }
                let mut wrong = reply.clone();
                let point = group.point_at(&reply);
                match group.curve {
                    Kind::Raw(_) => wrong[point].fill(0),
                    _ => wrong[point.start + 9] ^= 1,
                }
                refused(&client, &wrong, "part of the reply is not on the curve");
            });
            if !default_provider_has_them() {
                refused(&server, &reply, "the key has no secret half");
            }
            assert!(server.decapsulate(&reply).is_err());
        }
    }
}

#[test]
fn secret_halves_stay_and_shares_are_set_once() {
    const PUBLIC: i32 = 0x86;
    const BOTH: i32 = 0x87;
    let library = Library::new();
    for group in &GROUPS {
        for (client, is_ours) in keys_of_both(&library, group) {
            client.export(PUBLIC).expect("exported");
            if is_ours {
                let errors = client.export(BOTH).expect_err("refused");
                let expected = "secret halves are not exported";
                assert!(errors.contains(expected), "{errors}");
            }
            let shared = |_: &()| {
                let key = group.of_share(&library, &client.share()).expect("a share");
                (key, is_held_by_lanelock())
            };
            let servers = outside_and_in_jobs(&[()], shared);
            for (server, _) in &servers {
                assert!(client.is_equal(server));
            }
            let servers = servers.iter().map(|(key, is_ours)| (key, *is_ours));
            for (key, is_ours) in servers.chain([(&client, is_ours)]) {
                let errors = key.set_share(&client.share()).expect_err("refused");
                let is_told = errors.contains("the key has a share already") || !is_ours;
                assert!(is_told && !errors.is_empty(), "{errors}");
            }
            let other = Key::generate(&library, group.kind(), LANELOCK);
            assert!(!client.is_equal(&other));
        }
        let others = GROUPS.iter().find(|it| it.name != group.name);
        let names = (group.name, others.expect("three").name);
        let share = Key::generate(&library, group.kind(), LANELOCK).share();
        outside_and_in_jobs(&[()], |()| {
            let made = Key::of_share(&library, names, &share, LANELOCK);
            if is_held_by_lanelock() {
                let errors = made.err().expect("refused");
                assert!(errors.contains("group = "), "{errors}");
            }
        });
    }
}

/// From 3.5 on the default provider has the groups.
#[test]
fn the_default_provider_agrees() {
    if !default_provider_has_them() {
        return;
    }
    let library = Library::new();
    for group in &GROUPS {
        let names = (group.name, group.name);
        for (one, other) in [(LANELOCK, DEFAULT), (DEFAULT, LANELOCK)] {
            let client = Key::generate(&library, group.kind(), one);
            outside_and_in_jobs(&[(); 9], |()| {
                let key = Key::of_share(&library, names, &client.share(), other);
                let (reply, secret) = key.expect("a share").encapsulate().expect("encapsulated");
                assert_eq!(client.decapsulate(&reply), Ok(secret));
            });
        }
    }
}
