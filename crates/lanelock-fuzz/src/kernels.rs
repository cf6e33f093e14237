//! Whole bursts through the native engine, on every tier of this CPU, and through OpenSSL, against
//! the independent reference.

use std::sync::OnceLock;

use lanelock_conformance::Subject;
use lanelock_conformance::differential::Chosen;
use lanelock_core::engine::Engine;
use lanelock_core::{Device, DeviceBuilder};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

/// The first byte chooses engine and tier; the others make up a scenario: algorithms, lengths,
/// segments, places, faults, burst sizes and ways into the queue. Every byte of memory around a
/// message is compared, or lies next to a page that cannot be touched.
///
/// # Panics
/// If an engine disagrees with the reference.
pub fn run(data: &[u8]) {
    let Some((first, choices)) = data.split_first() else {
        return;
    };
    let engines = engines();
    let (name, chosen) = &engines[usize::from(*first) % engines.len()];
    if let Err(failure) = chosen.run(choices) {
        panic!("{name}: {failure}");
    }
}

/// OpenSSL, then native on each tier from the widest: one that this CPU has not is not among them.
fn engines() -> &'static [(&'static str, Chosen)] {
    static ENGINES: OnceLock<Vec<(&str, Chosen)>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let openssl = OpenSsl::new().expect("OpenSSL 3");
        let mut engines = vec![("openssl", only(openssl))];
        for tier in Tier::available() {
            let native = Native::with_tier(tier).expect("the CPU has it");
            engines.push((tier.name(), only(native)));
        }
        engines
    })
}

fn only(engine: impl Engine + 'static) -> Chosen {
    let name = engine.name();
    let builder: DeviceBuilder = Device::builder();
    let device = builder.engine(engine).build();
    Chosen::new(&Subject::new(&device, name).expect("the engine just added"))
}
