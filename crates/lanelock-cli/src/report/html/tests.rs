//! The pages as a whole.

use super::render;
use crate::machine::Machine;
use crate::row::{
    Common, Cycles, Handshakes, KeyBatch, KeyLoad, Latency, Memory, Percentiles, Report, Row,
    Shares, Throughput,
};
use crate::trace::{Algorithm, Batches, Breakdown, Event, Times};

fn report(results: Vec<Row>) -> Report {
    Report {
        machine: Machine {
            cpu: "A CPU <of> & its time".to_owned(),
            cores: 2,
            ..Machine::default()
        },
        command: "lanelock perf throughput".to_owned(),
        results,
    }
}

fn common(contestant: &str, size: u64, threads: u64, ops_per_s: f64) -> Common {
    #[expect(clippy::cast_precision_loss, reason = "a test")]
    let gbit_per_s = ops_per_s * size as f64 * 8e-9;
    Common {
        algorithm: "aes-128-cbc".to_owned(),
        operation: "encrypt".to_owned(),
        contestant: contestant.to_owned(),
        size,
        burst: 32,
        sessions: 1,
        threads,
        ops_per_s,
        gbit_per_s,
        ns_per_op: 1e9 / ops_per_s,
    }
}

fn row(contestant: &str, size: u64, threads: u64, ops_per_s: f64) -> Throughput {
    let common = common(contestant, size, threads, ops_per_s);
    Throughput {
        common,
        ..Throughput::default()
    }
}

/// Every element that was opened is closed, in the right order.
fn assert_balanced(html: &str) {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty());
        let name = name.expect("a tag has a name").to_lowercase();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(&*name), "{tag}");
        } else if !tag.ends_with('/') && !matches!(&*name, "!doctype" | "meta" | "link") {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
}

#[test]
fn many_keys_and_mixes_have_charts_of_their_own() {
    let mut keys = row("native", 1024, 1, 1e6);
    keys.common.sessions = 32;
    let mut mix = row("ipsec-mb", 355, 1, 1e6);
    mix.common.sessions = 32;
    mix.messages.imix = Some("64:7,576:4,1504:1".to_owned());
    let alone = row("native", 64, 1, 1e6);
    let html = render(&report(vec![keys.into(), mix.into(), alone.clone().into()]));
    assert_balanced(&html);
    assert!(html.contains("Many keys and mixed lengths"));
    assert!(html.contains("mix 64:7,576:4,1504:1, 32 keys"));
    assert!(html.contains("1 KiB, 32 keys"), "{html}");
    let html = render(&report(vec![alone.into()]));
    assert!(!html.contains("Many keys and mixed lengths"));
}

#[test]
fn the_page_is_well_formed_and_needs_no_network() {
    let html = all_kinds();
    assert_balanced(&html);
    assert_balanced(&all_of_a_trace());
    assert_balanced(&super::heat::tests::page());
    for reference in ["http", "src=", "url(", "@import", "<script"] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert!(html.contains("A CPU &lt;of&gt; &amp; its time"));
    for word in [">NaN", "\"NaN", ">inf", "\"inf", " inf ", ",inf"] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn handshakes_have_charts_of_their_own() {
    let stock = handshakes("haproxy", 200, 3000.0);
    let html = render(&report(vec![stock.clone().into()]));
    assert!(html.contains("<h2>TLS handshakes</h2>"), "{html}");
    let chart = |of: &str| format!("<figcaption>rsa-2048, tls 1.3 handshake: {of}</figcaption>");
    for of in ["handshakes/s", "server CPU, µs", "p99 latency, µs"] {
        assert!(html.contains(&chart(of)), "{of}");
    }
    assert!(!html.contains(&chart("lanes filled")), "no row has any");
    let batched = Handshakes {
        lanes_filled: Some(7.5),
        ..handshakes("haproxy+lanelock", 200, 4000.0)
    };
    let html = render(&report(vec![stock.into(), batched.into()]));
    let lanes = html.split(&chart("lanes filled")).nth(1).expect("a chart");
    let lanes = lanes.split("</figure>").next().expect("its end");
    assert!(
        lanes.contains("haproxy+lanelock") && !lanes.contains(">haproxy<"),
        "{lanes}"
    );
    assert!(!html.contains("<h2>Latency</h2>"));
}

fn handshakes(contestant: &str, connections: u64, rate: f64) -> Handshakes {
    Handshakes {
        common: Common {
            algorithm: "rsa-2048".to_owned(),
            operation: "tls-1.3-handshake".to_owned(),
            ..common(contestant, 0, 1, rate)
        },
        connections,
        server_cpu_ns_per_op: Some(300_000.0),
        percentiles: percentiles(),
        ..Handshakes::default()
    }
}

fn percentiles() -> Percentiles {
    let curve = [
        (50.0, 100),
        (90.0, 200),
        (99.0, 300),
        (99.9, 900),
        (99.999, 9000),
    ];
    Percentiles {
        p50_ns: 400_000,
        p99_ns: 900_000,
        latency_curve: curve.to_vec(),
        ..Percentiles::default()
    }
}

/// A page with every kind of chart.
pub(super) fn all_kinds() -> String {
    let mut rows: Vec<Row> = Vec::new();
    let names = "aes-128-cbc,aes-256-gcm,hmac-sha1,sha256,aes-128-cbc+hmac-sha1,chacha20-poly1305";
    for (n, algorithm) in (1..).zip(names.split(',')) {
        for (size, rate) in [(16, 9e6), (64, 8e6), (1024, 3e6), (8192, 5e5)] {
            for contestant in ["native", "openssl", "clone-per-op"] {
                for (threads, sessions) in [(1, 1), (2, 1), (1, 32)] {
                    let slow = if contestant == "native" { 1.0 } else { 3.3 };
                    let rate = rate / slow / f64::from(n) * if threads > 1 { 1.9 } else { 1.0 };
                    let mut row = row(contestant, size, threads, rate);
                    algorithm.clone_into(&mut row.common.algorithm);
                    row.common.sessions = sessions;
                    row.uplift_percent = (slow > 1.0).then_some(if n == 2 { -12.0 } else { 230.0 });
                    rows.push(row.clone().into());
                    if threads == 1 && sessions == 1 && contestant == "native" {
                        rows.push(cycles(row).into());
                    }
                }
            }
        }
    }
    let mut keys = row("native", 64, 1, 1e6);
    keys.common.sessions = 32;
    keys.common.algorithm = "aes-128-ctr+hmac-sha256".to_owned();
    rows.push(keys.into());
    let mut mix = row("ipsec-mb", 355, 1, 1e6);
    (mix.common.sessions, mix.messages.imix) = (32, Some("64:7,576:4,1504:1".to_owned()));
    rows.push(mix.into());
    for burst in [1, 8, 32, 128] {
        let mut latency = Latency {
            common: common("native", 64, 1, 1e6),
            percentiles: percentiles(),
            ..Latency::default()
        };
        latency.common.burst = burst;
        rows.push(latency.into());
    }
    for (connections, rate) in [(1, 900.0), (8, 2900.0), (64, 3900.0), (3000, 4000.0)] {
        for contestant in ["haproxy", "haproxy+lanelock"] {
            let mut handshakes = handshakes(contestant, connections, rate);
            handshakes.lanes_filled = Some(3.5);
            let Handshakes {
                common,
                percentiles,
                ..
            } = handshakes.clone();
            rows.push(handshakes.into());
            let mut batch = KeyBatch::default();
            (batch.common, batch.batch) = (common.clone(), connections);
            rows.push(batch.into());
            let load = KeyLoad {
                common,
                offered_ops_per_s: 10 * connections,
                policy: "deadline".to_owned(),
                percentiles,
                ..KeyLoad::default()
            };
            rows.push(load.into());
        }
    }
    for contestant in ["native", "openssl"] {
        let memory = Memory {
            common: common(contestant, 0, 1, 1.0),
            bytes_per_session: 400,
            bytes_per_context: 1200,
            ..Memory::default()
        };
        rows.push(memory.into());
    }
    let html = render(&report(rows));
    assert_eq!(html.matches("<h2>").count(), 12, "every section");
    let overview = html.split("<h2>All algorithms</h2>").nth(1).expect("there");
    let overview = overview.split("</section>").next().expect("its end");
    assert_eq!(overview.matches("<figure>").count(), 2, "short and long");
    html
}

fn cycles(throughput: Throughput) -> Cycles {
    Cycles {
        throughput,
        cycles_per_op: 1000.0,
        core_cycles_per_op: 1000.0,
        shares: Some(Shares {
            framework_cycles_per_op: 30.0,
            engine_cycles_per_op: 970.0,
        }),
    }
}

/// A page of `lanelock trace` with every kind of chart.
pub(super) fn all_of_a_trace() -> String {
    let times = |count: u64| Times {
        count,
        average_us: 1000.0,
        p50_us: 900,
        p99_us: 1100,
        total_us: 1000 * count,
        distribution_us: (1..60).map(|us| (100 * us, count / 60)).collect(),
    };
    let mut breakdown = Breakdown {
        program: "haproxy -f haproxy.cfg".to_owned(),
        crypto_share: Some(0.25),
        batches: Some(Batches {
            done: 600,
            failed: 0,
            cancelled: 0,
            algorithms: vec![Algorithm {
                name: "rsa-2048-sign".to_owned(),
                submitted: 600,
                batches: 90,
                lanes: (1..=8).map(|lanes| (lanes, 10 * lanes)).collect(),
                lanes_average: 6.0,
                average_us: 900.0,
                total_us: 81_000.0,
            }],
            wait: Some(times(600)),
        }),
        ..Breakdown::default()
    };
    breakdown.handshakes.time = Some(times(600));
    breakdown.handshakes.inside_calls = Some(times(300));
    breakdown.handshakes.paused = Some(times(120));
    let event = |(at, subject): (u64, u64), latency_us, result: &str| Event {
        time_us: at,
        pid: 4711,
        tid: 4711,
        comm: "haproxy".to_owned(),
        subject: subject.to_string(),
        what: "handshake".to_owned(),
        latency_us: Some(latency_us),
        result: result.to_owned(),
    };
    let events = (1..=30).flat_map(|n| {
        [
            event((2000 * n, n), 300, "later: paused"),
            event((2000 * n + 900, n), 200, "later: read"),
            event((2000 * n + 1900, n), 200, "done"),
        ]
    });
    let html = super::trace(&breakdown, &events.collect::<Vec<_>>());
    assert_eq!(html.matches("<h2>").count(), 5, "every section");
    html
}

#[test]
fn an_empty_report_is_a_page_too() {
    assert_balanced(&render(&report(Vec::new())));
}
