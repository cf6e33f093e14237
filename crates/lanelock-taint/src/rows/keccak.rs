//! SHA-3, SHAKE and HMAC over SHA-3.

use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, HmacKey, Job, Stream, hash_many};

use super::Row;
use crate::inputs::Inputs;
use crate::tier::Tier;

const TIERS: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512];

/// Bytes of the output of an extendable function: of several blocks, or less than one.
const OUTPUTS: [usize; 4] = [32, 400, 1, 168];

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for function in Function::ALL {
        let name = function.name();
        let run = move |tier, inputs: &mut Inputs| digests(machine(tier), function, inputs);
        rows.push(Row::new(name, TIERS, run));
        let Some(digest) = function.digest() else {
            continue;
        };
        for key in [digest, 1, 150] {
            let run = move |tier, inputs: &mut Inputs| hmacs(machine(tier), function, inputs, key);
            rows.push(Row::new(format!("HMAC-{name}, key of {key}"), TIERS, run));
        }
        let run = move |tier, inputs: &mut Inputs| in_parts(machine(tier), function, inputs);
        rows.push(Row::new(format!("HMAC-{name} in parts"), TIERS, run));
    }
    rows
}

fn machine(tier: Tier) -> Machine {
    tier.machine().expect("a tier of the row that can run")
}

/// Room for the output of each message.
fn places(function: Function, count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|i| vec![0; function.digest().unwrap_or(OUTPUTS[i % OUTPUTS.len()])])
        .collect()
}

fn digests(machine: Machine, function: Function, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for burst in inputs.bursts(0, 1, 0) {
        let mut digests = places(function, burst.len());
        let mut jobs: Vec<_> = burst
            .iter()
            .zip(&mut digests)
            .map(|(message, digest)| Job::new(&message.data, None, digest))
            .collect();
        hash_many(machine, function, &mut jobs);
        outputs.extend(digests);
    }
    outputs
}

fn hmacs(machine: Machine, function: Function, inputs: &mut Inputs, key: usize) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for burst in inputs.bursts(key, 1, 0) {
        let keys: Vec<_> = burst
            .iter()
            .map(|message| HmacKey::new(machine, function, &message.key))
            .collect();
        let mut tags = places(function, burst.len());
        let mut jobs: Vec<_> = burst
            .iter()
            .zip(&keys)
            .zip(&mut tags)
            .map(|((message, key), tag)| Job::new(&message.data, Some(key), tag))
            .collect();
        hash_many(machine, function, &mut jobs);
        outputs.extend(tags);
    }
    outputs
}

fn in_parts(machine: Machine, function: Function, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let key = HmacKey::new(machine, function, &inputs.secret_bytes(20));
    let parts = [3, 200, 61, 128, 1, 0, 77].map(|len| inputs.secret_bytes(len));
    let mut stream = Stream::hmac(machine, &key);
    parts.iter().for_each(|part| stream.update(part));
    let mut tags = places(function, 1);
    stream.finish_hmac(&key, &mut tags[0]);
    tags
}
