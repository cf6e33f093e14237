//! The machine a measurement ran on, as far as it explains the figures.

use std::fs;

use lanelock::Device;
use lanelock::engine::Engine;
use lanelock_native::Tier;
use serde::{Deserialize, Serialize};

/// Hardware and software.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Machine {
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that this process may run on.
    pub cores: usize,
    /// Tiers that the native engine has on this CPU, widest first.
    pub tiers: Vec<String>,
    /// The OpenSSL that is loaded.
    pub openssl: String,
    /// Operating system.
    pub os: String,
    /// Its kernel.
    pub kernel: String,
}

impl Machine {
    /// This one, with the OpenSSL that `device` has found.
    pub fn detect(device: &Device) -> Self {
        let openssl = device.engines().find(|engine| engine.name() == "openssl");
        Self {
            cpu: cpu(),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            tiers: Tier::available()
                .map(|tier| tier.name().to_owned())
                .collect(),
            openssl: openssl.map(Engine::version).unwrap_or_default(),
            os: os(),
            kernel: read("/proc/sys/kernel/osrelease"),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn cpu() -> String {
    let info = read("/proc/cpuinfo");
    let model = field(&info, "model name", ':').unwrap_or_else(|| std::env::consts::ARCH.into());
    // Hypervisors shorten the model's name: family, model and stepping tell them apart.
    let number = |key| field(&info, key, ':');
    match (number("cpu family"), number("model"), number("stepping")) {
        (Some(family), Some(id), Some(stepping)) => {
            format!("{model} (family {family}, model {id}, stepping {stepping})")
        }
        _ => model,
    }
}

fn os() -> String {
    let release = read("/etc/os-release");
    field(&release, "PRETTY_NAME", '=').map_or_else(
        || std::env::consts::OS.to_owned(),
        |name| name.replace('"', ""),
    )
}

/// The value of the first line that has exactly this key.
fn field(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_matched_whole() {
        let info = "cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(field(info, "model", ':').as_deref(), Some("17"));
        assert_eq!(field(info, "model name", ':').as_deref(), Some("AMD EPYC"));
        assert_eq!(field(info, "stepping", ':'), None);
    }
}
