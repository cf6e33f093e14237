use super::*;

/// Times that follow a rule, not a clock: 1000 to 1049, and `shift` more for the fixed class.
struct Scripted {
    shift: u64,
    random: fastrand::Rng,
}

impl Scripted {
    fn new(shift: u64) -> Self {
        let random = fastrand::Rng::with_seed(1);
        Self { shift, random }
    }
}

impl Timed for Scripted {
    fn batch(&mut self, take: &mut dyn FnMut(bool, u64)) -> Result<(), Failure> {
        for _ in 0..30_000 {
            let fixed = self.random.bool();
            let shift = self.shift * u64::from(fixed);
            take(fixed, self.random.u64(1000..1050) + shift);
        }
        Ok(())
    }
}

/// One batch, however long it takes.
const ONE_BATCH: Effort = Effort {
    span: Duration::from_nanos(1),
    least: 0,
};

#[test]
fn a_difference_that_stays_is_a_leak() {
    let (runs, analysis, verdict) = settle(|_| Ok(Scripted::new(20)), ONE_BATCH, 0).unwrap();
    assert_eq!((runs, verdict), (RUNS, Verdict::Leak));
    assert!(analysis.max_t().unwrap() > LIMIT);
}

#[test]
fn a_difference_that_does_not_come_back_is_none() {
    let once = |seed| Ok(Scripted::new(if seed == 0 { 20 } else { 0 }));
    let (runs, _, verdict) = settle(once, ONE_BATCH, 0).unwrap();
    assert_eq!((runs, verdict), (2, Verdict::NoLeakFound));
}

#[test]
fn equal_times_are_measured_once() {
    let (runs, _, verdict) = settle(|_| Ok(Scripted::new(0)), ONE_BATCH, 0).unwrap();
    assert_eq!((runs, verdict), (1, Verdict::NoLeakFound));
}

#[test]
fn one_leak_fails_the_run_and_so_do_too_few_measurements() {
    let report = |verdict| Report {
        machine: Machine::default(),
        command: String::new(),
        seed: 0,
        limit: LIMIT,
        results: vec![Row {
            algorithm: "aes-128-gcm".to_owned(),
            operation: "reject",
            tier: "avx2",
            measurements: 1,
            max_t: 99.0,
            runs: 3,
            verdict,
        }],
    };
    assert!(report(Verdict::NoLeakFound).outcome().is_ok());
    for (verdict, says) in [(Verdict::Leak, "in 1 of 1"), (Verdict::TooFew, "too few")] {
        let error = report(verdict).outcome().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let text = table::render(&report(Verdict::Leak).results);
    assert!(
        text.contains("LEAK: aes-128-gcm reject on avx2: |t| 99.0"),
        "{text}"
    );
}

#[test]
fn a_measurement_lasts_as_long_as_both_limits_ask() {
    let effort = Effort {
        least: 100_000,
        ..ONE_BATCH
    };
    let analysis = measure(&mut Scripted::new(0), effort).unwrap();
    assert!(analysis.measurements() >= effort.least);
}

#[test]
fn every_algorithm_and_kind_ends_as_it_has_to() {
    let maker = lanelock::open().unwrap();
    let mut timed = Vec::new();
    for tier in Tier::available() {
        for cell in cells(&maker, tier, &[]).unwrap() {
            let mut classes = [0; 2];
            let mut subject = cell.open(7).unwrap();
            subject
                .batch(&mut |fixed, _| classes[usize::from(fixed)] += 1)
                .unwrap();
            let name = format!("{} {}", cell.what.algorithm(), cell.what.operation());
            assert!(classes.iter().all(|count| *count > 0), "{name} {classes:?}");
            timed.push(name);
        }
    }
    let wanted = [
        "aes-192-cbc protect",
        "sha224 protect",
        "hmac-sha384 reject",
        "xchacha20-poly1305 undo",
        "aes-128-cbc+hmac-sha1 reject",
        "ml-kem-768-decapsulate key",
        "ml-kem-1024-decapsulate reject",
    ];
    for name in wanted {
        assert!(timed.iter().any(|other| other == name), "{name}");
    }
}

#[test]
fn a_private_key_is_timed_where_its_name_asks() {
    let maker = lanelock::open().unwrap();
    let names = ["ml-kem-512-decapsulate".to_owned()];
    let cells = cells(&maker, Tier::available().next().unwrap(), &names).unwrap();
    let found: Vec<_> = cells.iter().map(|cell| cell.what.operation()).collect();
    assert_eq!(found, ["key", "reject"]);
}

#[test]
fn the_json_names_its_schema() {
    let report = Report {
        machine: Machine::default(),
        command: "lanelock check --timing".to_owned(),
        seed: 7,
        limit: LIMIT,
        results: Vec::new(),
    };
    let text = json::render(Schema::CheckTiming, &report);
    let start = "{\n  \"schema\": \"lanelock-check-timing/1\",\n  \"machine\"";
    assert!(text.starts_with(start), "{text}");
}
