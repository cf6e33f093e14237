//! The public-key half of a sweep: keys and inputs are made by OpenSSL, once for each operation.

use std::time::Duration;

use lanelock::engine::public_key::PublicKeyEngine;

use super::super::bench::Bench;
use super::super::contestant::Contestant;
use super::super::pubkey::{CryptoMb, KeyRace, Protection};
use super::super::score::agree;
use super::design::Design;
use super::{NATIVE, turns};
use crate::failure::Failure;
use crate::sweep::{Cell, Library, Time};

/// The engine that runs one operation at a time.
const OPENSSL: &str = "openssl";

/// Operations, and how they are protected: libcrypto_mb's RSA neither blinds nor checks.
const OPERATIONS: [(&str, Protection); 18] = [
    ("rsa-2048-sign", Protection::Blinded),
    ("rsa-3072-sign", Protection::Blinded),
    ("rsa-4096-sign", Protection::Blinded),
    ("rsa-2048-raw-decrypt", Protection::Unblinded),
    ("rsa-3072-raw-decrypt", Protection::Unblinded),
    ("rsa-4096-raw-decrypt", Protection::Unblinded),
    ("rsa-2048-raw-encrypt", Protection::Blinded),
    ("rsa-2048-verify", Protection::Blinded),
    ("x25519-derive", Protection::Blinded),
    ("x25519-generate", Protection::Blinded),
    ("p256-sign", Protection::Blinded),
    ("p256-verify", Protection::Blinded),
    ("p256-derive", Protection::Blinded),
    ("p384-sign", Protection::Blinded),
    ("p384-verify", Protection::Blinded),
    ("p384-derive", Protection::Blinded),
    ("ed25519-sign", Protection::Blinded),
    ("ed25519-verify", Protection::Blinded),
];
/// Operations handed over at a time.
const BATCHES: [usize; 3] = [1, 8, 64];
/// Keys of an operation, taken in turn.
const KEYS: usize = 8;
/// Turns are so many times as long as those of bursts, since operations are.
const LONGER: u32 = 10;

/// Who runs public-key operations.
pub struct Keys<'b> {
    bench: &'b Bench,
    crypto_mb: Option<CryptoMb>,
    /// The operation that was measured last: its keys take OpenSSL a while.
    race: Option<KeyRace>,
}

/// Operations of one kind, so many at a time.
#[derive(Clone, Copy, Debug)]
pub struct KeyCell {
    operation: &'static str,
    protection: Protection,
    batch: usize,
}

impl<'b> Keys<'b> {
    /// Starts libcrypto_mb's program, if it is `wanted` and built; it has to be if it is `named`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is not.
    pub fn start(bench: &'b Bench, wanted: bool, named: bool) -> Result<Self, Failure> {
        let crypto_mb = match wanted && (named || CryptoMb::program().is_ok()) {
            true => Some(CryptoMb::start()?),
            false => None,
        };
        Ok(Self {
            bench,
            crypto_mb,
            race: None,
        })
    }

    /// What it drives.
    pub fn libraries(&self) -> Option<Library> {
        let crypto_mb = self.crypto_mb.as_ref()?;
        Some(Library {
            contestant: CryptoMb::NAME.to_owned(),
            version: crypto_mb.library().to_owned(),
        })
    }

    /// The cells of the operations that `named` has, or of all, as far as the native engine has them
    /// and someone to compare it with. `design` has taken what it knows of `named`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a name that neither has.
    pub fn design(&self, named: &[String], design: &Design) -> Result<Vec<KeyCell>, Failure> {
        for name in named {
            let known = OPERATIONS.iter().any(|(operation, _)| operation == name);
            if !known && !design.knows(name) {
                let names: Vec<_> = OPERATIONS.iter().map(|&(operation, _)| operation).collect();
                return Err(Failure::Usage(format!(
                    "--algorithm {name}: not in a sweep; use names that `lanelock engines` lists, or of \
                     public-key operations {}",
                    names.join(", ")
                )));
            }
        }
        let engines = self.bench.device.engines();
        let native = engines.filter(|engine| engine.name() == NATIVE);
        let native = native.filter_map(|engine| engine.public_key());
        let offered: Vec<_> = native
            .flat_map(|engine| engine.capabilities())
            .map(|row| row.spec.to_string())
            .collect();
        let cells = OPERATIONS.iter().filter(|(operation, protection)| {
            let wanted = named.is_empty() || named.iter().any(|name| name == operation);
            // OpenSSL always blinds.
            let rival = *protection == Protection::Blinded || self.crypto_mb.is_some();
            wanted && rival && offered.iter().any(|name| name == operation)
        });
        let batches = |&(operation, protection): &(&'static str, Protection)| {
            BATCHES.map(|batch| KeyCell {
                operation,
                protection,
                batch,
            })
        };
        Ok(cells.flat_map(batches).collect())
    }

    /// What everyone needs for an operation. The first, under the native engine's name, is a session
    /// that names no engine: its batches of too few operations for lanes run on OpenSSL.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed or a result is wrong.
    pub fn measure(&mut self, cell: &KeyCell, turn: Duration) -> Result<Vec<Time>, Failure> {
        let bench = self.bench;
        let race = match self.race.take() {
            Some(race) if race.is(cell.operation) => race,
            _ => KeyRace::new(&bench.device, cell.operation, KEYS)?,
        };
        let race = self.race.insert(race);
        let mut contestants: Vec<Box<dyn Contestant + '_>> = Vec::new();
        let chosen = race.contestant(&bench.device, None, cell.protection, cell.batch)?;
        contestants.push(Box::new(chosen));
        if cell.protection == Protection::Blinded {
            let openssl =
                race.contestant(&bench.device, Some(OPENSSL), cell.protection, cell.batch)?;
            contestants.push(Box::new(openssl));
        }
        if let Some(crypto_mb) = &mut self.crypto_mb
            && crypto_mb.prepare(race, &bench.device, cell.batch)?
        {
            contestants.push(Box::new(crypto_mb));
        }
        agree(&mut contestants)?;
        let mut times = turns::take(&mut contestants, LONGER * turn)?;
        NATIVE.clone_into(&mut times[0].contestant);
        Ok(times)
    }
}

impl KeyCell {
    /// Its name, no other cell's.
    pub fn name(&self) -> String {
        format!("{}, {} at a time", self.operation, self.batch)
    }

    /// The cell with what was measured in it.
    pub fn cell(&self, times: Vec<Time>) -> Cell {
        let operation = match self.protection {
            Protection::Blinded => "public-key",
            Protection::Unblinded => "public-key-unblinded",
        };
        Cell {
            algorithm: self.operation.to_owned(),
            operation: operation.to_owned(),
            sessions: KEYS as u64,
            burst: self.batch as u64,
            times,
            ..Cell::default()
        }
    }
}
