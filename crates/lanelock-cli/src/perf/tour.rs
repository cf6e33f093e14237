//! A bit of everything, for `lanelock tour`: two minutes on two cores.

use std::time::Duration;

use lanelock::algorithm::Spec;

use super::bench::Bench;
use super::contest::{Contest, Engines, Pace};
use super::lengths::Lengths;
use super::peer::Peer;
use super::uplift;
use super::work::{IMIX, SIX, Work};
use super::{cells, cycles, latency, tls};
use crate::failure::Failure;
use crate::row::{Report, Row, Throughput};

/// The habit that most applications have.
const BASELINE: &str = "clone-per-op";

/// What is measured with 32 keys.
const MANY_KEYS: [&str; 8] = [
    "aes-128-cbc",
    "aes-128-ctr",
    "aes-128-cmac",
    "aes-128-gcm",
    "hmac-sha1",
    "hmac-sha256",
    "aes-128-cbc+hmac-sha1",
    "aes-128-ctr+hmac-sha256",
];

const QUICK: Pace = Pace {
    seconds: Duration::from_millis(150),
    rounds: 3,
};

/// Rows of a tour, and why some are not there.
#[derive(Debug)]
pub struct Tour {
    pub report: Report,
    pub skipped: Vec<String>,
}

/// Measures every algorithm of every engine at two lengths; six of them at more lengths, beside a
/// hand-written loop (if its program is built) and a baseline, on one thread and on all; the
/// cycles of those, the latency of one, and a gateway's load: 32 keys, equal lengths and a mix,
/// beside libipsec-mb or, without it, that loop; and handshakes of the servers that are
/// installed.
///
/// `say` is told what comes next.
///
/// # Errors
/// [`Failure::Failed`] if an operation or a handshake failed, or results differ.
pub fn tour(say: impl Fn(&str)) -> Result<Tour, Failure> {
    let bench = Bench::open()?;
    let engines = bench.engines();
    let six: Vec<Spec> = SIX
        .split(',')
        .filter_map(|name| name.parse().ok())
        .collect();
    let (six, rest): (Vec<Spec>, Vec<Spec>) = six
        .iter()
        .copied()
        .chain(
            Spec::singles()
                .into_iter()
                .filter(|spec| !six.contains(spec)),
        )
        .filter(|spec| is_offered(&bench, spec))
        .partition(|spec| six.contains(spec));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);

    say("six algorithms by length, beside a baseline and a hand-written loop");
    let work = work(&six, &[16, 64, 256, 1 << 10, 8 << 10], 1);
    let beside = beside(&engines);
    let mut timed = cells::measure(&work.cells()?, &beside, QUICK, &bench)?;
    say("every other algorithm");
    let short = Pace {
        seconds: Duration::from_millis(80),
        ..QUICK
    };
    let work = self::work(&rest, &[64, 8 << 10], 1);
    let rest = cells::measure(&work.cells()?, &alone(&engines), short, &bench)?;
    timed.extend(rest);
    if cores > 1 {
        say("all cores");
        let work = self::work(&six, &[64, 1 << 10], cores);
        timed.extend(cells::measure(&work.cells()?, &beside, QUICK, &bench)?);
    }
    compare(&mut timed, &engines);
    let gateway = gateway_peer();
    say(&format!(
        "32 keys, short and long packets and a mix{}",
        gateway.map_or(String::new(), |peer| format!(", beside {}", peer.name()))
    ));
    timed.extend(many_keys(&engines, gateway, short, &bench)?);
    let mut rows: Vec<Row> = timed.into_iter().map(Row::from).collect();
    say("cycles");
    let work = self::work(&six, &[64, 256, 1 << 10], 1);
    let cycles = cycles::measure(&work.cells()?, &alone(&engines), short, &bench)?;
    rows.extend(cycles.into_iter().map(Row::from));
    say("latency");
    let work = Work {
        burst: vec![1, 8, 32, 128],
        ..self::work(&["aes-128-gcm".parse().expect("a name")], &[64, 1 << 10], 1)
    };
    let seconds = Duration::from_millis(300);
    let latency = latency::measure(&work.cells()?, &engines, seconds, &bench)?;
    rows.extend(latency.into_iter().map(Row::from));

    let (handshakes, missing) = tls::tour(&say)?;
    rows.extend(handshakes.into_iter().map(Row::from));
    let skipped = missing.into_iter();
    let skipped = skipped
        .map(|why| format!("TLS handshakes: {why}"))
        .collect();
    Ok(Tour {
        report: Report {
            machine: bench.machine(),
            command: "lanelock tour".to_owned(),
            results: rows,
        },
        skipped,
    })
}

/// The library made for a gateway's load, if its program is built; it is for x86-64 alone. Otherwise
/// the hand-written loop, if that is.
fn gateway_peer() -> Option<Peer> {
    let mut peers = [Peer::IpsecMb, Peer::Evp].into_iter();
    peers.find(|peer| peer.program().is_ok())
}

/// A gateway's load, beside `peer`.
fn many_keys(
    engines: &[String],
    peer: Option<Peer>,
    pace: Pace,
    bench: &Bench,
) -> Result<Vec<Throughput>, Failure> {
    let specs: Vec<Spec> = MANY_KEYS
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    let equal = Work {
        sessions: vec![32],
        ..work(&specs, &[64, 1 << 10], 1)
    };
    let mixed = Work {
        imix: IMIX.parse().ok(),
        ..equal.clone()
    };
    let contest = with_peers(alone(engines), peer.as_slice());
    let mut rows = cells::measure(&equal.cells()?, &contest, pace, bench)?;
    rows.extend(cells::measure(&mixed.cells()?, &contest, pace, bench)?);
    Ok(rows)
}

fn work(specs: &[Spec], lengths: &[u32], threads: usize) -> Work {
    Work {
        sizes: Lengths(lengths.to_vec()),
        threads: vec![threads],
        ..Work::of(specs.to_vec())
    }
}

fn alone(engines: &[String]) -> Contest {
    Contest {
        engines: Engines {
            engine: engines.to_vec(),
        },
        peer: Vec::new(),
        reference: None,
    }
}

/// The engines, the baseline, and the hand-written loop if its program is there.
fn beside(engines: &[String]) -> Contest {
    let mut contest = with_peers(alone(engines), &[Peer::Evp]);
    contest.engines.engine.push(BASELINE.to_owned());
    contest
}

/// The same with those of the peers that are built, and the first engine as the reference.
fn with_peers(contest: Contest, peers: &[Peer]) -> Contest {
    let built = peers.iter().copied();
    Contest {
        peer: built.filter(|peer| peer.program().is_ok()).collect(),
        reference: contest.engines.engine.first().cloned(),
        ..contest
    }
}

fn is_offered(bench: &Bench, spec: &Spec) -> bool {
    let mut engines = bench.device.engines();
    engines.any(|engine| {
        let offered = lanelock::engine::offers(engine.capabilities(), spec.algorithm);
        offered && bench.engines().iter().any(|name| name == engine.name())
    })
}

/// What the first engine gains over the baseline, in each cell that has both.
fn compare(rows: &mut [Throughput], engines: &[String]) {
    let Some(engine) = engines.first() else {
        return;
    };
    let cell = |row: &Throughput| {
        let common = &row.common;
        let work = (common.algorithm.clone(), common.operation.clone());
        (work, common.size, common.threads)
    };
    for cell in rows.chunk_by_mut(|a, b| cell(a) == cell(b)) {
        uplift::compare(cell, engine);
        for row in cell
            .iter_mut()
            .filter(|row| row.common.contestant != BASELINE)
        {
            row.uplift_percent = None;
        }
    }
}
