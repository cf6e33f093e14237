//! `lanelock perf pubkey`.

use serde_json::Value;

use crate::{perf, report};

fn pubkey(words: &str) -> Vec<Value> {
    report(format!("pubkey --keys 2 {words}")).1
}

#[test]
fn each_operation_and_batch_has_a_row() {
    let rows = pubkey(
        "--algorithm=x25519-derive,ed25519-sign,p256-sign,p256-verify --engine=openssl \
         --batch=1,3 --seconds=0.01 --rounds=1",
    );
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert!(row["ops_per_s"].as_f64().expect("a rate") > 0.0);
        assert!([1, 3].contains(&row["batch"].as_u64().expect("a batch")));
    }
}

#[test]
fn an_engine_is_measured_without_its_counters_beside_itself() {
    let rows = pubkey(
        "--algorithm=x25519-derive --engine=openssl --batch=1 --seconds=0.01 --rounds=1 \
         --uncounted",
    );
    let names: Vec<_> = rows.iter().map(|row| row["contestant"].as_str()).collect();
    assert_eq!(names, [Some("openssl"), Some("openssl, uncounted")]);
    assert_eq!(rows[1]["ratio"].as_f64(), Some(1.0));
}

#[test]
fn each_policy_has_its_latencies() {
    let rows =
        pubkey("--algorithm=x25519-derive --engine=openssl,device --rate=500,1000 --seconds=0.05");
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            (
                text("contestant"),
                text("policy"),
                row["offered_ops_per_s"].as_u64(),
            )
        })
        .collect();
    // Where the CPU has no lanes for it, the device runs one at a time, too.
    let lanes = rows.iter().any(|row| row["batch_ns"].as_u64() > Some(0));
    let policies: &[_] = match lanes {
        true => &["deadline", "adaptive"],
        false => &["single"],
    };
    let mut expected = Vec::new();
    for rate in [500, 1000] {
        let device = policies.iter().map(|&policy| ("device", policy));
        for (who, policy) in device.chain([("openssl", "single")]) {
            expected.push((who.to_owned(), policy.to_owned(), Some(rate)));
        }
    }
    assert_eq!(found, expected);
    assert!(rows.iter().all(|row| row["p99_ns"].as_u64() > Some(0)));
}

#[test]
fn a_load_is_a_share_of_what_full_batches_do() {
    let run = |engine: &str| {
        let work = "pubkey --algorithm=ed25519-sign --keys=2 --load=1,2 --seconds=0.02 --json=-";
        perf(format!("{work} --engine={engine}")).assert()
    };
    let refused = run("openssl").code(2);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("--rate"), "{text}");
    let ran = run("device");
    if ran.get_output().status.code() == Some(2) {
        return; // no lanes on this CPU, as above
    }
    let ran = ran.success();
    let report: Value = serde_json::from_slice(&ran.get_output().stdout).expect("JSON");
    assert_eq!(report["schema"], "lanelock-perf/1");
    let offered: Vec<_> = report["results"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["offered_ops_per_s"].as_f64().expect("a rate"))
        .collect();
    assert!((offered[2] / offered[0] - 2.0).abs() < 0.01, "{offered:?}");
}

#[test]
fn blinded_and_unblinded_stand_side_by_side() {
    let rows = pubkey(
        "--algorithm=rsa-2048-sign,ed25519-sign --blinding=on,off --batch=2 --seconds=0.01 \
         --rounds=1",
    );
    let of = |algorithm: &str| -> Vec<&str> {
        let some = rows.iter().filter(|row| row["algorithm"] == algorithm);
        some.map(|row| row["contestant"].as_str().expect("a name"))
            .collect()
    };
    let rsa = of("rsa-2048-sign");
    let ed25519 = of("ed25519-sign");
    assert!(rsa.contains(&"openssl") && !rsa.contains(&"openssl-unblinded"));
    if rsa.contains(&"native") {
        assert!(rsa.contains(&"native-unblinded") && rsa.contains(&"device-unblinded"));
    }
    let unblinded = |names: &[&str]| names.iter().any(|name| name.ends_with("-unblinded"));
    assert!(!unblinded(&ed25519), "nothing of it is blinded");
}

#[test]
fn an_unknown_operation_is_told_with_those_there_are() {
    let output = perf("pubkey --algorithm rsa-2048-dance").assert().failure();
    let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(
        text.contains("rsa-2048-dance") && text.contains("x25519-derive"),
        "{text}"
    );
}
