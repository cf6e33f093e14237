//! Wycheproof's public-key tests against the OpenSSL engine.

#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeMap;

use lanelock_conformance::progress::Silent;
use lanelock_conformance::public_key;
use lanelock_core::Device;
use lanelock_public_key::KeyKind;
use lanelock_public_key::engine::PublicKeyEngine;

#[test]
fn wycheproof_has_no_failure_and_skips_only_what_is_not_served() {
    let openssl = lanelock_openssl::OpenSsl::new().expect("OpenSSL 3");
    let device = Device::builder().engine(openssl).build();
    let outcomes = public_key::wycheproof(&device, "openssl", |_| true, &Silent);
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &outcomes {
        file.assert_right();
        for (reason, count) in &file.skipped {
            *skipped.entry(reason).or_default() += count;
        }
    }
    println!("skipped: {skipped:#?}");
    assert!(outcomes.len() > 60, "{} files", outcomes.len());
    let has_ml_kem = openssl_has_ml_kem(&device);
    let reason = |reason: &str| {
        let unserved = ["curve ", "hash ", "given randomness "];
        unserved.iter().any(|what| reason.starts_with(what))
            || !has_ml_kem && reason.contains("the loaded OpenSSL")
    };
    assert!(skipped.keys().all(|why| reason(why)), "{skipped:#?}");
}

/// From 3.5 on.
fn openssl_has_ml_kem(device: &Device) -> bool {
    let engine = device
        .engines()
        .next()
        .and_then(|engine| engine.public_key());
    let rows = engine
        .map(|engine| engine.capabilities())
        .unwrap_or_default();
    rows.iter()
        .any(|row| matches!(row.spec.kind, KeyKind::MlKem(_)))
}
