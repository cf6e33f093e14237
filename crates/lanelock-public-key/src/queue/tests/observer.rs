//! What an observer is told.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::{BatchStart, Completion, KeyDeviceBuilder, KeyObserver, KeySpec, Ticket, Tickets};

/// An event, as one line.
type Lines = Arc<Mutex<Vec<String>>>;

struct Recorder(Lines);

impl Recorder {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl KeyObserver for Recorder {
    fn submitted(&mut self, ops: Tickets, spec: KeySpec) {
        for number in ops.numbers() {
            self.note(format!("submit {number} {spec}"));
        }
    }

    fn batch_started(&mut self, batch: BatchStart) {
        let BatchStart {
            spec,
            filled,
            lanes,
        } = batch;
        self.note(format!("start {spec} {filled}/{lanes}"));
    }

    fn batch_ended(&mut self) {
        self.note("end".to_owned());
    }

    fn completed(&mut self, done: Completion) {
        let queued = if done.queued_at.is_some() {
            "queued"
        } else {
            "direct"
        };
        let Completion { spec, status, .. } = done;
        for number in done.ops.numbers() {
            self.note(format!("done {number} {spec} {queued} {status:?}"));
        }
    }

    fn cancelled(&mut self, op: Ticket, spec: KeySpec) {
        self.note(format!("cancel {} {spec}", op.number()));
    }
}

/// A queue with a recorder.
fn observed(device: &Device) -> (KeyQueue, Lines) {
    let lines = Lines::default();
    let mut queue = device.key_queue(8, FlushPolicy::default());
    queue.set_observer(Some(Box::new(Recorder(lines.clone()))));
    (queue, lines)
}

fn told(lines: &Lines) -> Vec<String> {
    std::mem::take(&mut *lines.lock().unwrap())
}

#[test]
fn each_job_is_told_of_from_submission_to_completion_or_cancellation() {
    let (device, _) = device("o1", Some("o1 single"));
    let session = session(&device, KeyKind::Ed25519, 1);
    let (mut queue, lines) = observed(&device);
    let now = Instant::now();
    queue.enqueue(job(&session, b"m"), now).unwrap();
    let gone = queue.enqueue(job(&session, b"m"), now).unwrap();
    queue.enqueue(job(&session, b"fault"), now).unwrap();
    queue.cancel(gone).expect("it waits");
    let short = KeyJob::sign(&session, b"m".to_vec(), vec![0; 63]);
    queue.enqueue(short, now).unwrap();
    assert_eq!(queue.flush(), 2);
    let expected = [
        "submit 0 ed25519-sign",
        "submit 1 ed25519-sign",
        "submit 2 ed25519-sign",
        "cancel 1 ed25519-sign",
        "submit 3 ed25519-sign",
        "done 3 ed25519-sign direct InvalidArgs",
        "start ed25519-sign 2/4",
        "end",
        "done 0 ed25519-sign queued Success",
        "done 2 ed25519-sign queued EngineError",
    ];
    assert_eq!(told(&lines), expected);
}

#[test]
fn a_burst_is_told_of_without_a_wait_and_only_what_it_ran() {
    let (device, _) = device("o2", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let (mut queue, lines) = observed(&device);
    let mut outputs = vec![[0; 64]; 5];
    let mut ops: Vec<_> = outputs
        .iter_mut()
        .map(|output| KeyOp::sign(&session, b"m", output))
        .collect();
    assert_eq!(queue.process(&mut ops[..1]).succeeded, 1);
    told(&lines);
    assert_eq!(queue.process(&mut ops).succeeded, 4);
    let lines = told(&lines);
    let submitted = (1..5).map(|op| format!("submit {op} ed25519-sign"));
    let done = (1..5).map(|op| format!("done {op} ed25519-sign direct Success"));
    let batch = ["start ed25519-sign 4/4", "end"].map(str::to_owned);
    assert_eq!(
        lines,
        submitted.chain(batch).chain(done).collect::<Vec<_>>()
    );
}

#[test]
fn a_burst_of_two_kinds_with_failures_is_told_of_one_by_one() {
    let (device, _) = device("o4", None);
    let one = session(&device, KeyKind::Ed25519, 1);
    let alike = session(&device, KeyKind::Ed25519, 2);
    let other = session(&device, KeyKind::Ed448, 3);
    let (mut queue, lines) = observed(&device);
    let burst: [(&KeySession, &[u8]); 6] = [
        (&one, b"m"),
        (&alike, b"fault"),
        (&one, b"m"),
        (&other, b"m"),
        (&other, b"m"),
        (&alike, b"m"),
    ];
    let mut outputs = [[0; 114]; 6];
    let mut ops: Vec<_> = burst
        .iter()
        .zip(&mut outputs)
        .map(|((session, message), output)| KeyOp::sign(session, message, output))
        .collect();
    // One in the middle has its status already.
    assert_eq!(queue.process(&mut ops[4..5]).succeeded, 1);
    told(&lines);
    assert_eq!(queue.process(&mut ops).succeeded, 4);
    let lines = told(&lines);
    let of = |word: &str| -> Vec<&str> {
        let lines = lines.iter().map(String::as_str);
        lines.filter(|line| line.starts_with(word)).collect()
    };
    assert_eq!(
        of("submit"),
        [
            "submit 1 ed25519-sign",
            "submit 2 ed25519-sign",
            "submit 3 ed25519-sign",
            "submit 4 ed448-sign",
            "submit 5 ed25519-sign",
        ]
    );
    assert_eq!(
        of("done"),
        [
            "done 1 ed25519-sign direct Success",
            "done 2 ed25519-sign direct EngineError",
            "done 3 ed25519-sign direct Success",
            "done 4 ed448-sign direct Success",
            "done 5 ed25519-sign direct Success",
        ]
    );
}

#[test]
fn jobs_of_a_panicking_engine_are_completed_as_failures() {
    let (device, _) = device("o3", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let (mut queue, lines) = observed(&device);
    queue
        .enqueue(job(&session, b"panic"), Instant::now())
        .unwrap();
    catch_unwind(AssertUnwindSafe(|| queue.flush())).unwrap_err();
    let last = told(&lines).pop();
    assert_eq!(
        last.as_deref(),
        Some("done 0 ed25519-sign queued EngineError")
    );
}

#[test]
fn a_device_gives_each_queue_an_observer() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let device = Device::builder().key_observers(|| {
        MADE.fetch_add(1, Ordering::Relaxed);
        None
    });
    let device = device.build();
    let _two_queues = [(); 2].map(|()| device.key_queue(1, FlushPolicy::default()));
    assert_eq!(MADE.load(Ordering::Relaxed), 2);
}
