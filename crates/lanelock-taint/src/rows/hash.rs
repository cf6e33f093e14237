//! SHA-1, SHA-2 and HMAC.

use lanelock_kernels::hash::{
    Algorithm, HmacKey, Job, Kernels, Sha1, Sha224, Sha256, Sha384, Sha512, Stream, hash_many,
};

use super::Row;
use crate::inputs::Inputs;
use crate::tier::Tier;

const EXTENDED: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::ShaNi, Tier::Avx512];
const WIDE: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512];

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    add::<Sha1>(&mut rows, EXTENDED);
    add::<Sha224>(&mut rows, EXTENDED);
    add::<Sha256>(&mut rows, EXTENDED);
    add::<Sha384>(&mut rows, WIDE);
    add::<Sha512>(&mut rows, WIDE);
    rows
}

fn add<A: Algorithm + 'static>(rows: &mut Vec<Row>, tiers: &'static [Tier]) {
    let name = A::NAME;
    rows.push(Row::new(name, tiers, digests::<A>));
    for key in [A::DIGEST, 1, 150] {
        let run = move |tier, inputs: &mut Inputs| hmacs::<A>(tier, inputs, key);
        rows.push(Row::new(format!("HMAC-{name}, key of {key}"), tiers, run));
    }
    rows.push(Row::new(
        format!("HMAC-{name} in parts"),
        tiers,
        in_parts::<A>,
    ));
}

fn kernels<A: Algorithm>(tier: Tier) -> &'static Kernels<A> {
    Kernels::of(tier.machine().expect("a tier of the row that can run"))
}

fn digests<A: Algorithm>(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for burst in inputs.bursts(0, 1, 0) {
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|message| Job::new(&message.data, None))
            .collect();
        hash_many(kernels::<A>(tier), &mut jobs);
        outputs.extend(jobs.iter().map(|job| job.digest().to_vec()));
    }
    outputs
}

fn hmacs<A: Algorithm>(tier: Tier, inputs: &mut Inputs, key: usize) -> Vec<Vec<u8>> {
    let kernels = kernels::<A>(tier);
    let mut outputs = Vec::new();
    for burst in inputs.bursts(key, 1, 0) {
        let keys: Vec<_> = burst
            .iter()
            .map(|message| HmacKey::new(kernels, &message.key))
            .collect();
        let mut jobs: Vec<_> = burst
            .iter()
            .zip(&keys)
            .map(|(message, key)| Job::new(&message.data, Some(key)))
            .collect();
        hash_many(kernels, &mut jobs);
        outputs.extend(jobs.iter().map(|job| job.digest().to_vec()));
    }
    outputs
}

fn in_parts<A: Algorithm>(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let kernels = kernels::<A>(tier);
    let key = HmacKey::<A>::new(kernels, &inputs.secret_bytes(20));
    let parts = [3, 200, 61, 128, 1, 0, 77].map(|len| inputs.secret_bytes(len));
    let mut stream = Stream::hmac(kernels, &key);
    parts.iter().for_each(|part| stream.update(part));
    let mut tag = vec![0; A::DIGEST];
    stream.finish_hmac(&key, &mut tag);
    vec![tag]
}
