//! Nanoseconds per operation of ML-KEM, all contestants in turns, in one process.
//!
//! `make ml-kem-peers`, or `cargo run --release -- [512|768|1024]`; `LANELOCK_TIER` names a tier.
//! Keys are read beforehand, randomness is drawn by each operation. Contestants have found each
//! other's secrets before they are timed.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lanelock::public_key::MlKem;

mod contestants;

use contestants::{Contestant, contestants};

/// Turns of each contestant, and how long one is.
const TURNS: usize = 15;
const TURN: Duration = Duration::from_millis(10);

const STEPS: [&str; 3] = ["generate", "encapsulate", "decapsulate"];

fn main() -> Result<(), Box<dyn Error>> {
    let only = std::env::args().nth(1);
    for (set, name) in MlKem::ALL.iter().zip(["512", "768", "1024"]) {
        if only.as_deref().is_none_or(|only| only == name) {
            measure(*set, name)?;
        }
    }
    Ok(())
}

fn measure(set: MlKem, name: &str) -> Result<(), Box<dyn Error>> {
    let mut contestants = contestants(set)?;
    agree(&mut contestants)?;
    println!(
        "{:32} {:>12} {:>12} {:>12}",
        format!("ML-KEM-{name}, ns/op"),
        STEPS[0],
        STEPS[1],
        STEPS[2]
    );
    let mut turns = vec![[const { Vec::new() }; STEPS.len()]; contestants.len()];
    for _ in 0..TURNS {
        for (contestant, turns) in contestants.iter_mut().zip(&mut turns) {
            for (step, turns) in turns.iter_mut().enumerate() {
                turns.push(turn(contestant.as_mut(), step)?);
            }
        }
    }
    for (contestant, turns) in contestants.iter().zip(&mut turns) {
        print!("{:32}", contestant.name());
        for turns in turns {
            turns.sort_by(f64::total_cmp);
            print!(" {:12.0}", turns[TURNS / 2]);
        }
        println!();
    }
    println!();
    Ok(())
}

/// Each decapsulates what each other has encapsulated to its key.
fn agree(contestants: &mut [Box<dyn Contestant>]) -> Result<(), Box<dyn Error>> {
    for to in 0..contestants.len() {
        let key = contestants[to].public_key();
        for from in 0..contestants.len() {
            let (ciphertext, secret) = contestants[from].encapsulate_to(&key)?;
            let found = contestants[to].decapsulate_one(&ciphertext)?;
            if found != secret {
                let [from, to] = [from, to].map(|i| contestants[i].name());
                return Err(format!("{from} and {to} have different secrets").into());
            }
        }
    }
    Ok(())
}

/// Nanoseconds per operation over one turn.
fn turn(contestant: &mut dyn Contestant, step: usize) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let mut done = 0;
    while start.elapsed() < TURN {
        match step {
            0 => contestant.generate()?,
            1 => contestant.encapsulate()?,
            _ => contestant.decapsulate()?,
        }
        done += contestant.batch();
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / black_box(done) as f64)
}
