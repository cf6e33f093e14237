//! The page as a whole.

use super::render;
use crate::machine::Machine;
use crate::row::{
    Common, Cycles, Handshakes, Latency, Memory, Percentiles, Report, Row, Shares, Throughput,
};

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
    let cycles = Cycles {
        throughput: row("openssl", 64, 1, 1e6),
        cycles_per_op: 1000.0,
        core_cycles_per_op: 1000.0,
        shares: Some(Shares {
            framework_cycles_per_op: 30.0,
            engine_cycles_per_op: 970.0,
        }),
    };
    let latency = Latency {
        common: common("openssl", 64, 1, 1e6),
        percentiles: Percentiles {
            latency_curve: vec![(50.0, 100), (99.0, 300), (99.9, 900), (100.0, 9000)],
            ..Percentiles::default()
        },
        ..Latency::default()
    };
    let mut uplift = row("clone-per-op", 64, 1, 1e6);
    uplift.uplift_percent = Some(95.0);
    let memory = Memory {
        common: Common {
            ns_per_op: 0.0,
            ..common("openssl", 0, 1, 0.0)
        },
        bytes_per_session: 400,
        ..Memory::default()
    };
    let html = render(&report(vec![
        row("openssl", 64, 1, 2e6).into(),
        row("openssl", 256, 1, 2e6).into(),
        row("openssl", 1024, 1, 1e6).into(),
        row("openssl", 64, 2, 4e6).into(),
        cycles.into(),
        latency.into(),
        uplift.into(),
        memory.into(),
    ]));
    assert_balanced(&html);
    for heading in [
        "Uplift",
        "Throughput by length",
        "Where the cycles go",
        "Latency",
        "Threads",
    ] {
        assert!(html.contains(heading), "{heading}");
    }
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
    let measured = |contestant: &str, connections| Handshakes {
        common: Common {
            algorithm: "rsa-2048".to_owned(),
            operation: "tls-1.3-handshake".to_owned(),
            ..common(contestant, 0, 1, 3000.0)
        },
        connections,
        server_cpu_ns_per_op: 300_000.0,
        ..Handshakes::default()
    };
    let html = render(&report(vec![
        measured("haproxy", 1).into(),
        measured("haproxy", 200).into(),
        measured("haproxy+lanelock", 200).into(),
    ]));
    assert_balanced(&html);
    assert!(html.contains("<h2>TLS handshakes</h2>"), "{html}");
    let chart = |of: &str| format!("<figcaption>rsa-2048, tls 1.3 handshake: {of}</figcaption>");
    for of in [
        "handshakes/s",
        "server CPU, µs each",
        "99 of 100 within, µs",
    ] {
        assert!(html.contains(&chart(of)), "{of}");
    }
    assert!(!html.contains(&chart("lanes filled")), "no row has any");
    let batched = Handshakes {
        lanes_filled: Some(7.5),
        ..measured("haproxy+lanelock", 200)
    };
    let html = render(&report(vec![
        measured("haproxy", 200).into(),
        batched.into(),
    ]));
    let lanes = html.split(&chart("lanes filled")).nth(1).expect("a chart");
    let lanes = lanes.split("</figure>").next().expect("its end");
    assert!(
        lanes.contains("haproxy+lanelock") && !lanes.contains(">haproxy<"),
        "{lanes}"
    );
    assert!(!html.contains("<h2>Latency</h2>"));
}

#[test]
fn an_empty_report_is_a_page_too() {
    assert_balanced(&render(&report(Vec::new())));
}
