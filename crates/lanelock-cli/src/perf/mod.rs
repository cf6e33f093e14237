//! `lanelock perf`: measurements.

mod content;
mod drive;
mod form;
mod lengths;
mod null_engine;
mod operation;
mod pool;
mod shape;

use crate::failure::Failure;

/// Arguments of `lanelock perf`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> Result<(), Failure> {
    use lanelock::*;
    let shape = shape::Shape {
        spec: std::env::var("ALG").unwrap_or("aes-128-cbc".into()).parse().unwrap(),
        operation: if std::env::var("ALG").is_ok_and(|a| a.contains("hmac")) { operation::Operation::Compute } else { operation::Operation::Encrypt },
        mix: lengths::Mix::Equal(64),
        burst: 32, sessions: 1, threads: 1, segments: 1,
        layout: shape::Layout::InPlace, pool: 256, aad: 0 };
    let device = Device::builder().engine(null_engine::NullEngine::new()).build();
    let sessions = vec![device.session(shape.transform(0)).unwrap()];
    let mut memory = pool::Memory::new(&shape);
    let messages = memory.messages(&shape, &sessions);
    let mut driver = drive::Driver::new(device.queue_pair(1), messages, &shape);
    for _ in 0..7 {
        let lap = driver.run(std::time::Duration::from_millis(300))?;
        println!("{:.2} ns", lap.elapsed.as_nanos() as f64 / lap.ops as f64);
    }
    println!("{:?}", driver.digest(&shape));
    Ok(())
}
