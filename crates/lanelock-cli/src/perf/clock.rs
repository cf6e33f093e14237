//! How fast clocks tick: the time-stamp counter, and the core itself.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Frequencies, in ticks per nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Frequencies {
    /// Of the time-stamp counter, which does not depend on the core's clock.
    pub counter: f64,
    /// Of the core while it was busy: an estimate.
    pub core: f64,
}

impl Frequencies {
    /// Measures them on the calling thread's core, which takes a tenth of a second.
    pub fn measure() -> Self {
        let core = (0..50).map(|_| core_frequency()).fold(0.0, f64::max);
        Self {
            counter: counter_frequency(),
            core,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "short times")]
fn counter_frequency() -> f64 {
    let clock = quanta::Clock::new();
    let (start, ticks) = (Instant::now(), clock.raw());
    while start.elapsed() < Duration::from_millis(50) {}
    let (elapsed, ticks) = (start.elapsed(), clock.raw() - ticks);
    ticks as f64 / elapsed.as_nanos() as f64
}

/// Times a chain of operations of which each waits for the one before. A xor takes one cycle, a
/// 64-bit product three, on every core of the last ten years that this is likely to meet.
#[expect(clippy::cast_precision_loss, reason = "short times")]
fn core_frequency() -> f64 {
    const STEPS: u32 = 100_000;
    const CYCLES_PER_STEP: f64 = 4.0;
    let factor = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let start = Instant::now();
    let mut x = factor;
    for _ in 0..STEPS {
        x = (x ^ factor).wrapping_mul(factor);
    }
    black_box(x);
    f64::from(STEPS) * CYCLES_PER_STEP / start.elapsed().as_nanos() as f64
}
