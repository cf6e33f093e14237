//! The differential checker against the OpenSSL engine.

use lanelock_conformance::differential::{Options, run};
use lanelock_conformance::progress::Silent;
use lanelock_conformance::{Level, Subject};
use lanelock_core::Device;

#[test]
fn openssl_is_right_in_every_layout() {
    let device = Device::builder()
        .engine(lanelock_openssl::OpenSsl::new().unwrap())
        .build();
    let subject = Subject::new(&device, "openssl").unwrap();
    let options = Options {
        level: Level::Quick,
        seed: 1,
        threads: 2,
    };
    let t = std::time::Instant::now();
    let outcome = run(&subject, options, &|_| true, &Silent);
    println!("{:?} {:?}", t.elapsed(), outcome.total());
    if let Some(failure) = outcome.failure {
        panic!("{failure}");
    }
}
