//! Random sessions, shapes and bursts.

use lanelock_core::Mac;
use lanelock_core::algorithm::{Algorithm, Spec};
use lanelock_core::transform::Direction;

use super::edit::Flip;
use super::fault::Fault;
use super::scenario::{Burst, Path, Scenario};
use super::shape::{Cut, IvPattern, OutputShape, Point, Shape, TagPlace};
use crate::Subject;
use crate::message::{Edge, Setup};
use crate::rng::Rng;

/// How far the random choices reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Longest body, in bytes.
    pub(super) body: usize,
    /// Longest additional data, in bytes.
    pub(super) aad: usize,
    /// Most operations in a burst.
    pub(super) burst: usize,
    /// Most bursts in a scenario.
    pub(super) bursts: usize,
}

/// A length that a sweep prescribes; everything else is drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sweep {
    Body(usize),
    Aad(usize),
    Iv(usize),
    Tag(usize),
}

/// A session of `spec` with lengths that `subject` offers.
pub(super) fn setup(subject: &Subject, spec: &Spec, sweep: Option<Sweep>, rng: &mut Rng) -> Setup {
    let (cipher, mac) = match spec.algorithm {
        Algorithm::Chain(_, c, m) => (Algorithm::Cipher(c), Algorithm::Mac(m)),
        single => (single, single),
    };
    let row = |algorithm| {
        subject
            .capability(algorithm)
            .expect("the algorithm is offered")
    };
    let direction = match spec.algorithm {
        Algorithm::Hash(_) => Direction::Forward,
        _ => *rng.pick(&[Direction::Forward, Direction::Reverse]),
    };
    let default = lanelock_core::Transform::new(spec.algorithm, direction, &[], &[]);
    let is_chain = cipher != mac;
    let key_len = |algorithm, named: usize, rng: &mut Rng| match algorithm {
        Algorithm::Mac(Mac::Hmac(hash)) => {
            let any = *rng.pick(&[
                1,
                hash.digest_len(),
                63,
                64,
                65,
                128,
                129,
                137,
                145,
                200,
                1000,
            ]);
            if row(algorithm).key.contains(any) {
                any
            } else {
                named
            }
        }
        Algorithm::Mac(Mac::Kmac128 | Mac::Kmac256) => {
            // Around the block that holds the key.
            *rng.pick(&[4, named, 131, 132, 163, 164, 165, 300, 512])
        }
        _ => named,
    };
    let first = key_len(cipher, spec.key_len, rng);
    let second = if is_chain {
        key_len(mac, spec.mac_key_len, rng)
    } else {
        0
    };
    let (iv_sizes, tag_sizes) = (row(cipher).iv, row(mac).tag);
    let any = |sizes: lanelock_core::sizes::Sizes, usual: usize, rng: &mut Rng| {
        if sizes.max() == 0 || (!rng.one_in(3) && sizes.contains(usual)) {
            return usual;
        }
        let all: Vec<usize> = sizes.iter().collect();
        *rng.pick(&all)
    };
    let customization = match spec.algorithm.row().customization.max() {
        0 => 0,
        _ => *rng.pick(&[0, 0, 1, 15, 31, 32, 127, 160, 512]),
    };
    Setup {
        customization: rng.bytes(customization),
        algorithm: spec.algorithm,
        direction,
        key: rng.bytes(first),
        mac_key: rng.bytes(second),
        iv_len: match sweep {
            Some(Sweep::Iv(len)) => len,
            _ => any(iv_sizes, default.iv_length(), rng),
        },
        tag_len: match sweep {
            Some(Sweep::Tag(len)) => len,
            _ => match spec.algorithm {
                Algorithm::Hash(hash) if hash.is_xof() && !rng.one_in(20) => rng.between(1, 300),
                _ => any(tag_sizes, default.tag_length(), rng),
            },
        },
    }
}

/// A message of `setup`.
pub(super) fn shape(setup: &Setup, sweep: Option<Sweep>, reach: Reach, rng: &mut Rng) -> Shape {
    let body = match sweep {
        Some(Sweep::Body(len)) => len,
        _ => length(reach.body, rng),
    };
    let aad = match sweep {
        Some(Sweep::Aad(len)) => Some(len),
        _ if rng.one_in(4) => None,
        _ => Some(length(reach.aad, rng)),
    };
    let some = |rng: &mut Rng| if rng.one_in(2) { 0 } else { rng.between(1, 40) };
    let cut = |rng: &mut Rng| match rng.below(10) {
        0..=3 => Cut::Whole,
        4 => Cut::Every(1),
        5 => Cut::Every(16),
        6 => Cut::Upto(5),
        7 => Cut::Upto(33),
        8 => Cut::Upto(300),
        _ => Cut::Every(rng.between(2, 70)),
    };
    let points = [
        Point::Lead,
        Point::Header,
        Point::Body,
        Point::InBody,
        Point::BodyEnd,
        Point::TrailerEnd,
    ];
    let auth = match rng.below(5) {
        0 => (Point::Body, Point::BodyEnd),
        1 => (Point::Header, Point::BodyEnd),
        2 => (Point::Lead, Point::TrailerEnd),
        _ => (*rng.pick(&points), *rng.pick(&points)),
    };
    let bare = rng.one_in(5); // nothing around the body: defaults apply
    let around = |rng: &mut Rng| if bare { 0 } else { some(rng) };
    let flips = [
        Flip::Tag,
        Flip::Body,
        Flip::Aad,
        Flip::Iv,
        Flip::Authenticated,
    ];
    let verifies = !setup.is_forward() && setup.tag_len > 0;
    Shape {
        seed: rng.next(),
        lead: around(rng),
        header: around(rng),
        body: fit_body(setup, body),
        trailer: around(rng),
        rest: around(rng),
        aad,
        aad_inline: !bare && rng.one_in(2),
        iv_inline: !bare && rng.one_in(2),
        iv: match rng.below(8) {
            0 => IvPattern::Ones,
            1 => IvPattern::OnesFrom(*rng.pick(&[4, 8, 12, 15])),
            _ => IvPattern::Random,
        },
        tag: match rng.below(6) {
            0 if !bare => TagPlace::Front,
            1 | 2 if !bare => TagPlace::Behind,
            3 | 4 => TagPlace::Inside,
            _ => TagPlace::Separate,
        },
        auth,
        output: match rng.below(8) {
            0..=2 => OutputShape::InPlace,
            3 => OutputShape::ReadOnly,
            _ => OutputShape::Separate {
                before: around(rng),
                after: around(rng),
            },
        },
        input_cut: cut(rng),
        output_cut: cut(rng),
        edge: match rng.below(24) {
            0 | 1 => Edge::PageBehind,
            2 => Edge::PageInFront,
            _ => Edge::Canary,
        },
        flip: (verifies && rng.one_in(5)).then(|| *rng.pick(&flips)),
        fault: rng.one_in(12).then(|| *rng.pick(&Fault::ALL)),
        explicit: rng.one_in(2),
    }
}

/// The nearest body that the session accepts.
pub(super) fn fit_body(setup: &Setup, body: usize) -> usize {
    let row = setup.algorithm.row();
    let max = row.max_payload_with(setup.iv_len);
    let max = max.map_or(usize::MAX, |max| max as usize);
    (body.min(max) / row.block * row.block).max(row.min_payload)
}

/// Mostly short, often at the edge of a block, sometimes long.
fn length(longest: usize, rng: &mut Rng) -> usize {
    let len = match rng.below(20) {
        0..=7 => rng.between(0, 80),
        8..=12 => (rng.between(0, 20) * 16 + rng.between(0, 2)).saturating_sub(1),
        13..=15 => (rng.between(0, 8) * 64 + rng.between(0, 4)).saturating_sub(2),
        16..=18 => rng.between(0, 1500),
        _ => rng.between(0, longest),
    };
    len.min(longest)
}

/// Bursts over random sessions of `specs`; the sweep's prescriptions are each met in both
/// directions.
pub(super) fn scenario(
    subject: &Subject,
    specs: &[Spec],
    sweeps: &[Sweep],
    reach: Reach,
    rng: &mut Rng,
) -> Scenario {
    let mut scenario = Scenario {
        setups: Vec::new(),
        queues: *rng.pick(&[1, 1, 2, 3]),
        depth: *rng.pick(&[1, 7, 64, 100]),
        bursts: Vec::new(),
    };
    let mut add = |setup: Setup| {
        scenario.setups.push(setup);
        scenario.setups.len() - 1
    };
    let mut ops = Vec::new();
    for &sweep in sweeps {
        let one = setup(subject, &specs[0], Some(sweep), rng);
        let both = [Direction::Forward, Direction::Reverse];
        let directions = if one.is_one_way() { 1 } else { 2 };
        for direction in both.into_iter().take(directions) {
            let one = one.with_direction(direction);
            let shape = Shape {
                fault: None,
                flip: None,
                ..shape(&one, Some(sweep), reach, rng)
            };
            ops.push((add(one), shape));
        }
    }
    if !sweeps.is_empty() {
        rng.shuffle(&mut ops);
        scenario.bursts = ops
            .chunks(32)
            .map(|ops| burst(ops.to_vec(), 1, rng))
            .collect();
        return scenario;
    }
    let sessions = *rng.pick(&[1, 2, 5, 16]);
    for _ in 0..sessions.max(specs.len().min(24)) {
        let spec = rng.pick(specs);
        add(setup(subject, spec, None, rng));
    }
    for _ in 0..rng.between(1, reach.bursts) {
        let count = *rng.pick(&[1, 2, 3, 8, 16, 31, 32, 33, 64]);
        let plain = rng.one_in(3);
        let one = rng.one_in(3).then(|| rng.below(scenario.setups.len()));
        let ops = (0..count.min(reach.burst))
            .map(|_| {
                let index = one.unwrap_or_else(|| rng.below(scenario.setups.len()));
                let shape = shape(&scenario.setups[index], None, reach, rng);
                (index, if plain { shape.plain() } else { shape })
            })
            .collect();
        let queues = scenario.queues;
        scenario.bursts.push(burst(ops, queues, rng));
    }
    scenario
}

fn burst(ops: Vec<(usize, Shape)>, queues: usize, rng: &mut Rng) -> Burst {
    Burst {
        queue: rng.below(queues),
        path: if rng.one_in(4) {
            Path::Jobs {
                limit: *rng.pick(&[1, 5, 32, 1000]),
            }
        } else {
            Path::Process
        },
        ops,
    }
}
