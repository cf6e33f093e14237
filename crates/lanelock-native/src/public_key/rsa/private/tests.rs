#![allow(clippy::unwrap_used)] // tests

use lanelock_core::{Buffer, Device, Hash, Op, Status, Transform};
use lanelock_kernels::Machine;
use lanelock_public_key::{EncryptionScheme, RsaNumbers, SecretKey};
use lanelock_testkit::{Probe, in_child};
use openssl::rsa::Rsa;

use super::*;

type Key = Private<2, 4>;

/// Calls `run` as an engine, with the token of its queue.
fn on_queue(run: fn(&mut QueueToken)) {
    let engine = Probe::batches(move |queue, batch| {
        run(queue);
        batch.complete(Status::Success);
    });
    let device = Device::builder().engine(engine).build();
    let session = device.session(Transform::hash(Hash::Sha256)).unwrap();
    let (mut input, mut digest) = ([0; 1], [0; 32]);
    let mut ops = [Op::new(&session, Buffer::in_place(&mut input)).tag(&mut digest)];
    assert_eq!(device.queue_pair(1).process(&mut ops).succeeded, 1);
}

fn key() -> Key {
    let rsa = Rsa::generate(2048).unwrap();
    let number = |number: Option<&openssl::bn::BigNumRef>| number.unwrap().to_vec();
    let secret = SecretKey::rsa(&RsaNumbers {
        n: &number(Some(rsa.n())),
        e: &number(Some(rsa.e())),
        d: &number(Some(rsa.d())),
        p: &number(rsa.p()),
        q: &number(rsa.q()),
        dp: &number(rsa.dmp1()),
        dq: &number(rsa.dmq1()),
        qinv: &number(rsa.iqmp()),
    });
    let transform = KeyTransform::decrypt(EncryptionScheme::RsaRaw, &secret.unwrap());
    Private::open(&transform).unwrap()
}

/// The result of a block under each key.
fn roots(queue: &mut QueueToken, keys: &[&Key]) -> Vec<Result<(), KeyReason>> {
    let input = [7; 256];
    let mut outputs = vec![[0; 256]; keys.len()];
    let mut roots: Vec<_> = keys
        .iter()
        .zip(&mut outputs)
        .map(|(key, output)| Root {
            key: *key,
            input: &input,
            output,
            result: Ok(()),
        })
        .collect();
    take_roots(Machine::PORTABLE, queue, &mut roots);
    roots.iter().map(|root| root.result).collect()
}

/// How often each blinding of a key was used.
fn uses(queue: &mut QueueToken, key: &Key) -> Vec<u32> {
    let kept = key.kept(queue).unwrap();
    kept.iter().map(|pair| pair.uses()).collect()
}

#[test]
fn after_a_fault_all_blindings_of_its_key_are_renewed() {
    on_queue(|queue| {
        let [one, other] = [key(), key()];
        let keys = [&one, &one, &other, &one, &other];
        assert_eq!(roots(queue, &keys), [Ok(()); 5]);
        assert_eq!(
            (uses(queue, &one), uses(queue, &other)),
            (vec![1; 3], vec![1; 2])
        );

        // A blinding of another key is wrong.
        let foreign = other.take(queue).unwrap();
        one.kept(queue).unwrap()[1] = foreign;
        let results = roots(queue, &keys);
        let fault = Err(KeyReason::Fault);
        assert_eq!(results, [Ok(()), fault, Ok(()), Ok(()), Ok(())]);
        assert_eq!(
            (uses(queue, &one), uses(queue, &other)),
            (vec![], vec![2, 1])
        );

        assert_eq!(roots(queue, &keys), [Ok(()); 5]);
        assert_eq!(uses(queue, &one), [1; 3]);
    });
}

#[test]
fn a_forked_child_makes_blindings_of_its_own() {
    on_queue(|queue| {
        let key = key();
        for _ in 0..2 {
            assert_eq!(roots(queue, &[&key; 3]), [Ok(()); 3]);
        }
        assert_eq!(uses(queue, &key), [2; 3]);
        let right_in_child = in_child(|| {
            let inherited = uses(queue, &key);
            let results = roots(queue, &[&key; 3]);
            inherited.is_empty() && results == [Ok(()); 3] && uses(queue, &key) == [1; 3]
        });
        assert!(right_in_child, "the child's blindings");
        assert_eq!(roots(queue, &[&key; 3]), [Ok(()); 3]);
        assert_eq!(uses(queue, &key), [3; 3], "the parent's");
    });
}

#[test]
fn generations_of_parent_child_and_grandchild_differ() {
    let parent = fork::generation();
    let differ = in_child(|| {
        let child = fork::generation();
        let grandchild_differs = in_child(|| ![parent, child].contains(&fork::generation()));
        child != parent && child == fork::generation() && grandchild_differs
    });
    assert!(differ);
    assert_eq!(fork::generation(), parent);
}
