//! The secret-taint check: every kernel under Valgrind's memcheck with keys, texts and whatever is
//! computed from them marked as undefined, so that a branch or an address that depends on a secret
//! is an error with a stack trace. `make taint` builds and runs it.
//!
//! A cell of the table is one algorithm on one tier. It passes if memcheck found nothing, if every
//! byte of its secret outputs was still marked at the end (the marks were not lost on the way), and
//! if the outputs, once public, are those of a run without marks and of the other tiers. Canaries
//! run first: leaks that memcheck has to report, and a marked value it has to let pass.

mod canary;
mod cell;
mod inputs;
mod rows;
mod tier;

use std::process::ExitCode;

use cell::Outcome;
use lanelock_kernels::taint;
use rows::Row;
use tier::Tier;

fn main() -> ExitCode {
    if !taint::is_watched() || !cfg!(lanelock_taint) {
        eprintln!(
            "lanelock-taint: runs under Valgrind, built with --cfg lanelock_taint: make taint"
        );
        return ExitCode::from(2);
    }
    #[cfg(lanelock_taint)]
    let _set_once = lanelock_public_key::taint::MARK_PUBLIC.set(taint::mark_public);
    let only = std::env::args().nth(1).unwrap_or_default();
    if !canary::all_behave() {
        return ExitCode::FAILURE;
    }
    let tiers = Tier::ALL.map(|tier| (tier, tier.refusal()));
    let rows: Vec<_> = rows::all()
        .into_iter()
        .filter(|row| row.name.contains(&only))
        .collect();
    if rows.is_empty() {
        eprintln!("lanelock-taint: no row has '{only}' in its name");
        return ExitCode::from(2);
    }
    let (mut failed, mut ran, mut skipped) = (0, 0, 0);
    print!("\n{:34}", "kernel");
    tiers
        .iter()
        .for_each(|(tier, _)| print!(" {:>9}", tier.name()));
    println!();
    for row in &rows {
        let outcomes = measure(row, &tiers);
        print!("{:34}", row.name);
        for outcome in &outcomes {
            print!(" {:>9}", outcome.as_ref().map_or("", Outcome::word));
        }
        println!();
        for ((tier, _), outcome) in tiers.iter().zip(&outcomes) {
            match outcome {
                None => {}
                Some(Outcome::Skipped) => skipped += 1,
                Some(Outcome::Clean) => ran += 1,
                Some(bad) => {
                    failed += 1;
                    println!("FAILED: {} on {}: {bad}", row.name, tier.name());
                }
            }
        }
    }
    println!();
    for (tier, refusal) in &tiers {
        if let Some(refusal) = refusal {
            println!("skipped: {}: {refusal}", tier.name());
        }
    }
    println!("{ran} cells clean, {failed} failed, {skipped} skipped");
    // Without one cell that ran, nothing was shown.
    ExitCode::from(u8::from(failed > 0 || ran == 0))
}

/// The outcome of a row on each tier; nothing where it has no kernel.
fn measure(row: &Row, tiers: &[(Tier, Option<String>)]) -> Vec<Option<Outcome>> {
    let mut expected = None;
    let outcome = |(tier, refusal): &(Tier, Option<String>)| {
        if !row.tiers.contains(tier) {
            None
        } else if refusal.is_some() {
            Some(Outcome::Skipped)
        } else {
            Some(cell::run(row, *tier, &mut expected))
        }
    };
    tiers.iter().map(outcome).collect()
}
