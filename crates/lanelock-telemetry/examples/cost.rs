//! What counting costs: operations of an engine that does nothing, with an observer and without,
//! in turns. With `LANELOCK_STATS=off` the observer has no page, and only its probes are left.
//!
//! `cargo run --release -p lanelock-telemetry --example cost`

#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod support;

use std::time::Instant;

use lanelock_public_key::{FlushPolicy, KeyDevice, KeyOp, KeyQueue, KeySession};
use lanelock_telemetry::observer;

const ROUNDS: usize = 21;
const BURSTS: u32 = 20_000;

/// Nanoseconds for an operation in bursts of `burst`.
fn measure(queue: &mut KeyQueue, session: &KeySession, burst: usize) -> f64 {
    let mut outputs = vec![[0; 64]; burst];
    let start = Instant::now();
    for _ in 0..BURSTS {
        let ops = outputs.iter_mut();
        let mut ops: Vec<_> = ops
            .map(|output| KeyOp::sign(session, b"m", output))
            .collect();
        assert_eq!(queue.process(&mut ops).succeeded, burst);
    }
    start.elapsed().as_secs_f64() * 1e9
        / f64::from(BURSTS)
        / f64::from(u32::try_from(burst).expect("a few"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let (device, session) = support::device();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    println!("ns per operation    without  with  difference");
    for burst in [1, support::LANES] {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            queue.set_observer(None);
            without.push(measure(&mut queue, &session, burst));
            queue.set_observer(observer());
            with.push(measure(&mut queue, &session, burst));
        }
        let (without, with) = (median(without), median(with));
        let difference = with - without;
        println!("{burst} at a time        {without:8.1} {with:6.1}  {difference:8.1}");
    }
}
