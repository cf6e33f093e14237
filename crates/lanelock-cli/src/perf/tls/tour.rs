//! What `lanelock tour` measures of TLS.

use std::path::PathBuf;
use std::time::Duration;

use super::super::contest::Pace;
use super::contest::{self, Servers};
use super::cores::Cores;
use super::credentials::KeyKind;
use super::haproxy;
use super::target::Version;
use crate::failure::Failure;
use crate::row::Handshakes;
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
    pub fn measure(&self) -> Result<Vec<Handshakes>, Failure> {
        let cores = Cores::choose();
        let servers = Servers {
            program: self.program.clone(),
            module: Some(self.module.clone()),
            deadline: None,
            cores: &cores,
        };
        let keys = contest::keys(&[KeyKind::Rsa2048])?;
        let cells = contest::cells(&keys, &[Version::Tls13], &CONNECTIONS);
        contest::measure(&cores, &cells, PACE, |cell| servers.start(cell))
    }
}
