//! Published vectors and Wycheproof against the OpenSSL engine.

#![allow(missing_docs, reason = "a test")]

use lanelock_conformance::progress::Silent;
use lanelock_conformance::suite::FileOutcome;
use lanelock_conformance::{Subject, vectors, wycheproof};
use lanelock_core::Device;

fn subject() -> Subject {
    let openssl = lanelock_openssl::OpenSsl::new().expect("OpenSSL 3");
    let device = Device::builder().engine(openssl).build();
    Subject::new(&device, "openssl").expect("its name")
}

/// Every test of every file was right, refused as it should be, or skipped for a reason.
fn accounted_for(outcomes: &[FileOutcome]) {
    outcomes.iter().for_each(FileOutcome::assert_right);
}

#[test]
fn every_published_vector_is_right() {
    let outcomes = vectors::run(&subject(), |_| true, &Silent);
    accounted_for(&outcomes);
    // Single DES comes from OpenSSL's legacy provider, which a system may lack, GCM-SIV with 3.2.
    let may_lack = ["des-cbc", "des-docsis", "aes-gcm-siv"];
    for (name, _) in vectors::all() {
        let ran = outcomes.iter().any(|file| file.name == name);
        assert!(ran || may_lack.contains(&name), "{name}.txt did not run");
    }
    assert!(
        outcomes.iter().all(|file| file.skips() == 0),
        "{outcomes:#?}"
    );
}

#[test]
fn wycheproof_is_right_and_skips_only_lengths_that_no_session_has() {
    let outcomes = wycheproof::run(&subject(), |_| true, &Silent);
    accounted_for(&outcomes);
    assert!(outcomes.len() > 20, "{} files", outcomes.len());
    let skips: Vec<_> = outcomes
        .iter()
        .flat_map(|file| {
            file.skipped
                .iter()
                .map(|(why, count)| (why.as_str(), *count))
        })
        .collect();
    assert_eq!(
        skips,
        [
            ("aes-128-gcm: IV of 257 bytes; allowed: 1 to 128", 1),
            ("aes-192-gcm: IV of 257 bytes; allowed: 1 to 128", 1),
            ("aes-256-gcm: IV of 257 bytes; allowed: 1 to 128", 1),
            ("aes-xts: key of 48 bytes; allowed: 32 or 64", 41),
        ]
    );
}
