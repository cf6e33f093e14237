//! What `lanelock tour` measures of TLS.

use std::path::PathBuf;
use std::time::Duration;

use super::super::progress::Progress;
use super::contest::{self, Cell, Pace};
use super::cores::Cores;
use super::credentials::KeyKind;
use super::haproxy::{self, Setup};
use super::setups;
use super::target::Version;
use crate::failure::Failure;
use crate::row::Row;
use crate::run::module;

/// A HAProxy and the module, ready to be measured in some seconds.
#[derive(Debug)]
pub struct Tour {
    program: PathBuf,
    module: PathBuf,
}

const CONNECTIONS: [usize; 3] = [1, 8, 64];

const PACE: Pace = Pace {
    seconds: Duration::from_millis(900),
    rounds: 3,
};

impl Tour {
    /// Looks for both, or says what is missing.
    pub fn prepare() -> Result<Self, String> {
        Ok(Self {
            program: haproxy::find()
                .ok_or_else(|| format!("there is no HAProxy: {}", haproxy::REMEDY))?,
            module: module::find().map_err(|failure| failure.to_string())?,
        })
    }

    /// Full handshakes of TLS 1.3 with an RSA-2048 key, with and without the provider.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a handshake failed.
    pub fn measure(&self) -> Result<Vec<Row>, Failure> {
        let cell = Cell {
            key: KeyKind::Rsa2048,
            version: Version::Tls13,
            connections: &CONNECTIONS,
        };
        let setup = Setup {
            program: self.program.clone(),
            provider: None,
            deadline: None,
            version: cell.version,
            connections: CONNECTIONS[CONNECTIONS.len() - 1],
        };
        let setups = setups(setup, Some(&self.module));
        let cores = Cores::choose();
        let progress = Progress::of(CONNECTIONS.len() * PACE.rounds * setups.len());
        cores.as_client(|| contest::measure(&setups, &cell, PACE, &cores, &progress))
    }
}
