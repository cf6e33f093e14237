//! Operations of threads that each wait for their own: the handshakes of servers with a thread for
//! each connection (Apache httpd, MariaDB), which know nothing of asynchronous mode.
//!
//! ```text
//! thread 1: sign → first in the line → lets others run, as long as they bring more ┐
//! thread 2: sign → sleeps                                                          │
//!   ⋮                                                                              │
//! thread 8: sign → eighth: runs all eight, and wakes the others           ← or it runs what there is
//! ```
//!
//! The first in the line gives its processor to threads that are ready to run (`sched_yield`). Where
//! there are none, that returns at once, and the operation runs without having waited: a thread
//! waits only while its processor does something else. Where others are ready, the handshakes that
//! they have come to their operations, too.
//!
//! - A process whose operations are one thread's never gets here, and one whose threads do not meet
//!   looks for company ever more rarely ([`Retry`]).
//! - Nobody waits for company for longer than it could gain ([`most_gained`]): the first in the line runs
//!   what stands there, and if it has no processor, whoever has stood there for as long does.
//! - A batch that runs ends by itself, and with it the wait of those whose operations are in it. Only if
//!   the thread that runs it is lost does [`LOST`] pass; then each does its operation itself.
//! - There is no lock, so that none can be held by a thread that does not run, or that a forked
//!   child does not have. A child has a line of its own.

mod line;
mod primitives;
mod workspace;

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lanelock::public_key::{KeyJob, KeyKind, KeySession};

use crate::batch::{self, Bytes};
use crate::config::Mode;
use crate::lanes;
use crate::lasting::Retry;
use crate::spare::Pair;
use line::{Claimed, Line, Stage, Waiter};
use primitives::Patience;
use workspace::{Work, Workspaces};

/// How often the first in the line lets others run without anybody having come.
const BARREN: u32 = 3;

/// How long a batch may take before it is taken for lost, with its thread: a batch takes a millisecond or
/// a few, but if others have a higher priority its thread may never get a processor, and where all have the
/// same many others may come first.
const LOST: Duration = Duration::from_millis(500);

/// Most operations between two that look for company.
const MOST_SKIPPED: u32 = 32;

/// Key pairs of a process from which on it is worth opening the engines for more.
const MANY: u32 = 64;

/// Operations that fill batches together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Group {
    /// All of a process have the same size, mostly.
    Rsa,
    P384,
    X25519,
}

/// How many there are.
const GROUPS: usize = 3;

/// What a process has.
struct Combiner {
    generation: u32,
    lines: [Standing; GROUPS],
    workspaces: Workspaces,
    /// Which thread had the last operation; 0 before the first.
    last: AtomicUsize,
    /// Whether another had one before.
    has_threads: AtomicBool,
    /// Key pairs that were asked for, up to [`MANY`]; threads that count at the same time may lose some.
    asked: AtomicU32,
}

/// The line of a group, and whether it is worth standing in where nobody else does.
struct Standing {
    line: Line<Work>,
    company: Retry,
}

/// Runs the operation that `make` describes together with those of other threads. `None` if the caller
/// is to run it by itself: where there are no others, and if it failed, so that the error is told as
/// usual.
pub(crate) fn run(
    mode: Mode,
    group: Group,
    make: impl FnOnce() -> Option<KeyJob<Bytes>>,
) -> Option<KeyJob<Bytes>> {
    let combiner = Combiner::current()?;
    if !combiner.has_company(mode, group) {
        return None;
    }
    let standing = combiner.standing(group);
    let job = make()?;
    let (lanes, limit) = (job.session().lanes(), most_gained(job.session()));
    standing.line.meet(
        job,
        lanes,
        |first| standing.collect(first, limit),
        |claimed| combiner.serve(claimed),
        |stage| match stage {
            Stage::InLine => Patience::of(limit),
            Stage::Taken => Patience::of(LOST),
        },
    )
}

/// Processor time that the company of others can save at most, and so the longest time that an operation
/// waits for it: what a full batch saves. Of eight signatures with RSA-2048 that is the time of five by
/// themselves, 2 ms; with P-384 that of seven, 5.25 ms; of eight shared secrets of X25519 that of six,
/// 0.24 ms.
fn most_gained(session: &KeySession) -> Duration {
    lanes::saved(session.spec(), session.lanes(), session.break_even())
}

/// A key pair from those that the process has generated ahead, if it has threads with private-key
/// operations, or a use for many pairs. `None` if the caller is to generate one by itself.
pub(crate) fn spare(mode: Mode, kind: KeyKind) -> Option<Pair> {
    let combiner = Combiner::current()?;
    let is_worth_it = match mode {
        Mode::Off => false,
        Mode::Auto => combiner.has_threads.load(Ordering::Relaxed) || combiner.has_asked_often(),
        Mode::On => true,
    };
    is_worth_it.then_some(())?;
    let mut workspace = combiner.workspaces.take()?;
    let pair = workspace.spare(kind);
    combiner.workspaces.put(workspace);
    pair
}

/// Calls `f` on a large stack of the process's. `None` if it panicked, and if there is no memory for the
/// stack, this time.
pub(crate) fn on_large_stack<R>(f: impl FnOnce() -> R) -> Option<R> {
    let combiner = Combiner::current()?;
    let workspace = combiner.workspaces.take()?;
    let result = workspace.on_stack(f);
    combiner.workspaces.put(workspace);
    result
}

impl Combiner {
    fn new(generation: u32) -> Self {
        Self {
            generation,
            lines: std::array::from_fn(|_| Standing {
                line: Line::new(),
                company: Retry::new(MOST_SKIPPED),
            }),
            workspaces: Workspaces::new(),
            last: AtomicUsize::new(0),
            has_threads: AtomicBool::new(false),
            asked: AtomicU32::new(0),
        }
    }

    /// Whether the process has asked for [`MANY`] pairs before.
    fn has_asked_often(&self) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        if asked < MANY {
            self.asked.store(asked + 1, Ordering::Relaxed);
        }
        asked == MANY
    }

    /// This process's. A parent's is left as it is: its threads stand in the line.
    fn current() -> Option<&'static Self> {
        static CURRENT: AtomicPtr<Combiner> = AtomicPtr::new(std::ptr::null_mut());
        let generation = batch::generation()?;
        let mut known = CURRENT.load(Ordering::Acquire);
        loop {
            // SAFETY: null, or placed below and never freed.
            if let Some(combiner) = unsafe { known.as_ref() }
                && combiner.generation == generation
            {
                return Some(combiner);
            }
            let made = Box::into_raw(Box::new(Self::new(generation)));
            match CURRENT.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: as above.
                Ok(_) => return Some(unsafe { &*made }),
                Err(theirs) => {
                    // SAFETY: made above, and seen by nobody.
                    drop(unsafe { Box::from_raw(made) });
                    known = theirs;
                }
            }
        }
    }

    fn standing(&self, group: Group) -> &Standing {
        &self.lines[group as usize]
    }

    /// Whether an operation of this thread can hope for others.
    fn has_company(&self, mode: Mode, group: Group) -> bool {
        thread_local!(static ME: u8 = const { 0 });
        let Ok(me) = ME.try_with(|me| std::ptr::from_ref(me).addr()) else {
            return false;
        };
        let last = self.last.load(Ordering::Relaxed);
        if last != me {
            self.last.store(me, Ordering::Relaxed);
        }
        let has_others = last != me && last != 0;
        if has_others && !self.has_threads.load(Ordering::Relaxed) {
            self.has_threads.store(true, Ordering::Relaxed);
        }
        let standing = self.standing(group);
        standing.line.len() > 0 || mode == Mode::On || has_others && standing.company.is_due()
    }

    /// Runs what stood in a line.
    fn serve(&self, claimed: Vec<Claimed<Work>>) {
        let workspace = (claimed.len() > 1).then(|| self.workspaces.take());
        let Some(mut workspace) = workspace.flatten() else {
            return claimed.iter().for_each(|(waiter, _)| waiter.finish(None));
        };
        if workspace.run(claimed) {
            self.workspaces.put(workspace);
        }
    }
}

impl Standing {
    /// Lets others run until the line is full or taken, nobody comes any more, or `limit` has passed.
    fn collect(&self, first: &Waiter<Work>, limit: Duration) {
        let start = Instant::now();
        let (mut known, mut barren) = (1, 0);
        while barren < BARREN && start.elapsed() < limit {
            std::thread::yield_now();
            if !first.is_waiting() {
                return self.company.succeeded();
            }
            let waiting = self.line.len();
            barren = if waiting > known { 0 } else { barren + 1 };
            known = waiting;
        }
        match known {
            1 => self.company.failed(),
            _ => self.company.succeeded(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use lanelock::public_key::{
        KeyDevice, KeySpec, KeyTransform, Operation, SecretKey, SignatureScheme,
    };
    use lanelock_testkit::{has_lanes, in_child};

    use super::*;

    /// How many of `count` operations look for others, of two threads in turns that never meet.
    fn looks(combiner: &Combiner, count: usize) -> usize {
        let look = |turn| {
            let looks = || combiner.has_company(Mode::Auto, Group::Rsa);
            let looks = match turn % 2 {
                0 => looks(),
                _ => std::thread::scope(|scope| scope.spawn(looks).join().expect("an answer")),
            };
            if looks {
                combiner.standing(Group::Rsa).company.failed();
            }
            looks
        };
        (0..count).filter(|&turn| look(turn)).count()
    }

    #[test]
    fn a_lone_thread_never_waits_and_threads_that_do_not_meet_rarely_do() {
        let combiner = Combiner::new(1);
        for _ in 0..1000 {
            assert!(
                !combiner.has_company(Mode::Auto, Group::Rsa),
                "nobody else has operations"
            );
        }
        assert!(
            combiner.has_company(Mode::On, Group::Rsa),
            "unless it is told to"
        );
        combiner.standing(Group::Rsa).company.failed();
        let looks = looks(&combiner, 1000);
        assert!(looks > 0 && looks < 100, "{looks} of 1000");
    }

    #[test]
    fn a_wait_is_shorter_than_the_operations_of_a_full_batch_by_themselves() {
        let device = batch::device().expect("engines");
        let key = SecretKey::raw(KeyKind::X25519, &[9; 32]).expect("a key");
        let transform = KeyTransform::derive(&key);
        let session = device.key_session(&transform).expect("a session");
        let (spec, lanes) = (session.spec(), session.lanes());
        let (limit, all) = (most_gained(&session), lanes::saved(spec, lanes, 0));
        assert!(limit < all, "{limit:?} of {all:?}");
        // Of four operations lanes save two at least, of eight six.
        assert_eq!(2 * limit >= all, has_lanes(), "{limit:?} of {all:?}");
        let rsa = |bits| KeySpec {
            kind: KeyKind::Rsa(bits),
            operation: Operation::Sign,
            ..spec
        };
        let [smaller, larger] = [2048, 4096].map(|bits| lanes::saved(rsa(bits), 8, 3));
        assert_eq!(smaller * 8, larger);
        assert!(!smaller.is_zero());
    }

    #[test]
    fn a_line_takes_in_no_more_than_it_has_room_for() {
        let line = Line::new();
        let places = (0..70).map(|number| line.push(&line.waiter(number)));
        let places: Vec<_> = places.collect();
        assert_eq!(places[..63], (1..=63).map(Some).collect::<Vec<_>>());
        assert_eq!(places[63..], [None; 7]);
        assert_eq!((line.len(), line.take().len(), line.len()), (63, 63, 0));
    }

    #[test]
    fn a_child_has_a_line_of_its_own() {
        let (stands, may_go) = (Barrier::new(2), Barrier::new(2));
        let ours = Combiner::current().expect("memory");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let line = &ours.standing(Group::Rsa).line;
                let waiter = line.waiter(job());
                assert_eq!(line.push(&waiter), Some(1));
                stands.wait();
                may_go.wait();
                assert_eq!(line.take().len(), 1);
            });
            stands.wait();
            let is_apart = in_child(|| {
                let own = Combiner::current().expect("memory");
                !std::ptr::eq(own, ours)
                    && own.standing(Group::Rsa).line.len() == 0
                    && run(Mode::On, Group::Rsa, || Some(job())).is_none()
            });
            may_go.wait();
            assert!(is_apart, "a child stood in its parent's line");
        });
    }

    /// An operation, with an engine that runs it by itself.
    fn job() -> Work {
        let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32]).expect("a key");
        let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
        let session = batch::device().expect("engines").key_session(&transform);
        let buffer = |len| zeroize::Zeroizing::new(vec![0; len]);
        KeyJob::sign(&session.expect("a session"), buffer(3), buffer(64))
    }

    /// The futex's own wake-ups, which the model stands in for: one that is lost costs the patience.
    #[test]
    fn threads_that_sleep_on_a_futex_are_woken_with_their_results() {
        const THREADS: usize = 6;
        const ROUNDS: usize = 2000;
        let (line, patience) = (Line::new(), Duration::from_secs(60));
        let bring = |thread: usize| {
            let answer = |(waiter, work): Claimed<usize>| waiter.finish(Some(work + 1));
            (0..ROUNDS)
                .map(|round| thread * ROUNDS + round)
                .all(|work| {
                    let result = line.meet(
                        work,
                        THREADS / 2,
                        |_| std::thread::yield_now(),
                        |claimed| claimed.into_iter().for_each(answer),
                        |_| Patience::of(patience),
                    );
                    result == Some(work + 1)
                })
        };
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| scope.spawn(move || bring(thread)))
                .collect();
            let mut ended = threads.into_iter().map(|it| it.join().expect("its end"));
            ended.all(|has_own| has_own)
        });
        assert!(all, "a thread was not woken, or with another's result");
        assert_eq!(line.len(), 0);
    }

    #[test]
    fn whoever_has_no_result_when_a_batch_goes_is_told() {
        let line = Line::new();
        let serve = |claimed: Vec<Claimed<Work>>| {
            let waiters = claimed.into_iter().map(|(waiter, _)| (None, waiter));
            let batch = workspace::Batch(waiters.collect());
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let _batch = batch;
                panic!("an engine's");
            }));
            assert!(panicked.is_err());
        };
        let hour = |_| Patience::of(Duration::from_secs(3600));
        assert!(line.meet(job(), 1, |_| (), serve, hour).is_none());
    }
}
