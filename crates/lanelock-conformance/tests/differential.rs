//! The differential checker against the OpenSSL engine.

use lanelock_conformance::differential::{Options, run};
use lanelock_conformance::progress::Silent;
use lanelock_conformance::{Level, Subject};
use lanelock_core::Device;

#[test]
fn openssl_is_right_in_every_layout() {
    let openssl = lanelock_openssl::OpenSsl::new().expect("OpenSSL 3");
    let device = Device::builder().engine(openssl).build();
    let subject = Subject::new(&device, "openssl").expect("its name");
    let options = Options {
        level: Level::Quick,
        seed: 1,
        threads: 2,
    };
    let outcome = run(&subject, options, &|_| true, &Silent);
    if let Some(failure) = outcome.failure {
        panic!("{failure}");
    }
    let total = outcome.total();
    for (what, count) in [
        ("succeed", total.succeeded),
        ("were tampered with", total.tampered),
        ("were refused", total.refused),
        ("have segments", total.segmented),
        ("have a separate output", total.separate),
        ("lie at a guard page", total.guarded),
        ("went through a queue", total.queued),
    ] {
        assert!(count > 1000, "only {count} operations {what}");
    }
}
