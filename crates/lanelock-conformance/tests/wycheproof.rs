//! Wycheproof against the OpenSSL engine.

use lanelock_conformance::progress::Silent;
use lanelock_conformance::{Subject, wycheproof};
use lanelock_core::Device;

#[test]
fn every_file_is_right_and_every_skip_has_a_reason() {
    let device = Device::builder()
        .engine(lanelock_openssl::OpenSsl::new().unwrap())
        .build();
    let subject = Subject::new(&device, "openssl").unwrap();
    let outcomes = wycheproof::run(&subject, |_| true, &Silent);
    for file in &outcomes {
        println!(
            "{:24} {:20} {:5} tests: {:4} right, {:4} refused, {:3} skipped, {} failed; {} ops, {} tampered {:?}",
            file.name,
            file.algorithm,
            file.tests,
            file.right,
            file.refused,
            file.skips(),
            file.failures.len(),
            file.operations,
            file.tampered,
            file.skipped,
        );
        for f in file.failures.iter().take(3) {
            println!("   {f:?}");
        }
    }
    assert!(outcomes.iter().all(|file| file.failures.is_empty()));
    assert_eq!(outcomes.len(), 20);
    for file in &outcomes {
        assert_eq!(
            file.right + file.refused + file.skips(),
            file.tests,
            "{}",
            file.name
        );
    }
}
