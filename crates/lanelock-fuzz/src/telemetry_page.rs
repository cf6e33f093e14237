//! The telemetry page, as another process reads it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::Instant;

use lanelock_core::Device;
use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyDeviceBuilder, KeyJob, KeyKind, KeyOp, KeyReason, KeySession,
    KeyTransform, Operation, SecretKey, SignatureScheme,
};
use lanelock_telemetry::reader::{Reader, Snapshot, Stats};
use lanelock_telemetry::{PAGE_NAME, observer};
use lanelock_testkit::{Bytes, KeyLanes};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

/// The first byte chooses. Either the rest is work for queues, and the page counts what they did; or
/// it is laid over a page that was written so, and what the reader makes of it can be looked at.
///
/// # Panics
/// If not.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    match first % 4 {
        0 => counted(&mut Bytes::new(rest)),
        1 => any(rest),
        _ => changed(rest),
    }
}

/// Operations that run in lockstep.
const LANES: usize = 8;

/// Length of the longest signature, Ed448's.
const SIGNATURE: usize = 114;

/// Blocks of a page.
const BLOCKS: usize = 512;

fn counted(choices: &mut Bytes<'_>) {
    let (device, sessions) = device();
    let before = own_page();
    let mut expected = [Counts::default(); 2];
    let mut queues: Vec<_> = (0..=choices.up_to(2))
        .map(|_| device.key_queue(64, FlushPolicy::default()))
        .collect();
    while !choices.is_empty() {
        let at = choices.up_to(1);
        let (session, counts) = (&sessions[at], &mut expected[at]);
        let queue_at = choices.up_to(queues.len() - 1);
        let queue = &mut queues[queue_at];
        let (count, faults) = (1 + choices.up_to(20), choices.flag());
        let message: &[u8] = if faults { b"fault" } else { b"m" };
        counts.submitted += count as u64;
        match choices.up_to(3) {
            0 => {
                let mut outputs = vec![[0; SIGNATURE]; count];
                let mut ops: Vec<_> = outputs
                    .iter_mut()
                    .map(|output| KeyOp::sign(session, message, output))
                    .collect();
                let _counted_below = queue.process(&mut ops);
                counts.ran(count, faults);
            }
            1 => {
                for _ in 0..count {
                    let ticket = queue.enqueue(job(session, b"m"), Instant::now());
                    queue.cancel(ticket.expect("room")).expect("it waits");
                }
                counts.cancelled += count as u64;
            }
            2 => {
                for _ in 0..count {
                    let ticket = queue.enqueue(job(session, message), Instant::now());
                    ticket.expect("room");
                }
                assert_eq!(queue.flush(), count);
                while queue.dequeue_one().is_some() {}
                counts.ran(count, faults);
                counts.waited += count as u64;
            }
            _ => {
                // The queue goes, and its counts stay.
                counts.submitted -= count as u64;
                queues[queue_at] = device.key_queue(64, FlushPolicy::default());
            }
        }
    }
    assert_counted(before.as_ref(), &expected, sessions);
    drop(queues);
    assert_counted(before.as_ref(), &expected, sessions);
}

fn assert_counted(before: Option<&Snapshot>, expected: &[Counts; 2], sessions: &[KeySession; 2]) {
    let after = own_page()
        .map(|page| page.by_algorithm())
        .unwrap_or_default();
    let before = before.map(Snapshot::by_algorithm).unwrap_or_default();
    for (session, expected) in sessions.iter().zip(expected) {
        let name = session.spec().to_string();
        let of = |page: &std::collections::BTreeMap<String, Stats>| {
            page.get(&name).cloned().unwrap_or_default()
        };
        assert_eq!(
            Counts::of(&of(&after).since(&of(&before))),
            *expected,
            "{name}"
        );
    }
}

/// What the page says of an algorithm.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Counts {
    submitted: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    in_lanes: u64,
    waited: u64,
}

impl Counts {
    fn ran(&mut self, count: usize, faults: bool) {
        self.completed += count as u64;
        self.failed += if faults { count as u64 } else { 0 };
        self.in_lanes += count as u64;
    }

    fn of(stats: &Stats) -> Self {
        assert_eq!(stats.singles, 0);
        assert_eq!(stats.lanes_filled.iter().sum::<u64>(), stats.batches);
        assert_eq!(stats.compute.count(), stats.batches);
        // How a burst is divided follows from what batches have cost in this process.
        assert!((stats.in_lanes.div_ceil(LANES as u64)..=stats.in_lanes).contains(&stats.batches));
        Self {
            submitted: stats.submitted,
            completed: stats.completed,
            failed: stats.failed,
            cancelled: stats.cancelled,
            in_lanes: stats.in_lanes,
            waited: stats.wait.count(),
        }
    }
}

fn any(bytes: &[u8]) {
    let file = memory_file();
    file.write_all_at(bytes, 0)
        .expect("a memory file is written");
    look_at(file);
}

/// Runs of bytes laid over a page: two bytes of offset and one of length for each. An offset is a
/// word's, in the header and the first blocks.
fn changed(mut changes: &[u8]) {
    let page = written_page();
    let file = memory_file();
    file.write_all_at(page, 0)
        .expect("a memory file is written");
    while let [high, low, len, rest @ ..] = changes {
        let word = u64::from(u16::from_be_bytes([*high, *low]) % 4000);
        let (bytes, left) = rest.split_at(rest.len().min(usize::from(len % 17)));
        file.write_all_at(bytes, 8 * word)
            .expect("a memory file is written");
        changes = left;
    }
    look_at(file);
}

/// Reads a page and does with it what `lanelock stats` does.
fn look_at(file: File) {
    let Ok(reader) = Reader::of(file) else {
        return;
    };
    let Ok(snapshot) = reader.read() else {
        return;
    };
    assert!(snapshot.queues.len() <= BLOCKS);
    for (name, stats) in snapshot.by_algorithm() {
        let is_graphic = |c: char| c.is_ascii_graphic();
        assert!(!name.is_empty() && name.len() < 48 && name.chars().all(is_graphic));
        assert!(stats.mean_lanes().is_none_or(f64::is_finite));
        let none = stats.since(&stats);
        assert_eq!((none.submitted, none.wait.count()), (0, 0));
        for histogram in [&stats.wait, &stats.compute] {
            let steps = [0.0, 0.5, 0.9, 0.99, 1.0].map(|q| histogram.quantile(q));
            assert!(steps.is_sorted(), "{steps:?}");
            assert!(histogram.cumulative().map(|(bound, _)| bound).is_sorted());
        }
    }
}

/// A file as long as a page, of zeros that take no memory.
fn memory_file() -> File {
    let file = memfd_create(
        "fuzzed page",
        MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
    )
    .expect("a memory file");
    ftruncate(&file, PAGE_LEN).expect("it grows");
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).expect("seals, as a page has");
    File::from(file)
}

/// Bytes of a page, or more.
const PAGE_LEN: u64 = 8 << 20;

/// The start of a page that has counted something: its header and first blocks.
fn written_page() -> &'static [u8] {
    static PAGE: OnceLock<Vec<u8>> = OnceLock::new();
    PAGE.get_or_init(|| {
        counted(&mut Bytes::new(&[
            1, 0, 0, 9, 0, 0, 1, 1, 12, 1, 2, 0, 1, 3, 0, 1,
        ]));
        let files = std::fs::read_dir("/proc/self/fd").expect("this process's descriptors");
        let page = files.flatten().map(|entry| entry.path()).find(|path| {
            let target = std::fs::read_link(path).unwrap_or_default();
            target.to_string_lossy().contains(PAGE_NAME)
        });
        let mut start = vec![0; 32_000];
        let page = File::open(page.expect("a page was made")).expect("this process's own");
        page.read_exact_at(&mut start, 0).expect("it is longer");
        start
    })
}

fn own_page() -> Option<Snapshot> {
    let reader = Reader::open(std::process::id()).ok()?;
    Some(reader.read().expect("a sound page"))
}

/// A device whose queues are counted, and sessions of two algorithms.
fn device() -> (&'static Device, &'static [KeySession; 2]) {
    static DEVICE: OnceLock<(Device, [KeySession; 2])> = OnceLock::new();
    let (device, sessions) = DEVICE.get_or_init(|| {
        let lanes = KeyLanes {
            name: "toy",
            lanes: LANES,
            operation: Operation::Sign,
            run: sign,
        }
        .engine();
        let device = Device::builder()
            .engine(lanes)
            .key_observers(observer)
            .build();
        let sessions = [(KeyKind::Ed25519, 32), (KeyKind::Ed448, 57)].map(|(kind, len)| {
            let key = SecretKey::raw(kind, &vec![7; len]).expect("a key");
            let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
            device.key_session(&transform).expect("the toy signs")
        });
        (device, sessions)
    });
    (device, sessions)
}

fn sign(mut op: ValidKeyOp<'_, '_>) {
    match op.input() {
        b"fault" => op.fail(KeyReason::Fault),
        _ => op.succeed(1),
    }
}

fn job(session: &KeySession, message: &[u8]) -> KeyJob {
    KeyJob::sign(session, message.to_vec(), vec![0; SIGNATURE])
}
