//! Every sequence of events up to a depth, against the policy's rules stated anew over plain lists.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::*;

/// Lanes of the two groups.
const LANES: [usize; 2] = [2, 3];
const DEADLINE: Duration = Duration::from_micros(200);
/// Events of a sequence; 9 kinds each.
const DEPTH: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Submit(usize),
    /// Poll with as many submitters as there are handles, or with more.
    Poll {
        alone: bool,
    },
    /// The same for one batch.
    PollOne {
        alone: bool,
    },
    CancelOldest,
    CancelNewest,
    /// Half a deadline passes.
    Wait,
}

const EVENTS: [Event; 9] = [
    Event::Submit(0),
    Event::Submit(1),
    Event::Poll { alone: false },
    Event::Poll { alone: true },
    Event::PollOne { alone: false },
    Event::PollOne { alone: true },
    Event::CancelOldest,
    Event::CancelNewest,
    Event::Wait,
];

/// What a lone group that is due runs of `count` items in one poll for one batch.
fn part(count: usize) -> usize {
    (count - 1).max(1)
}

/// What waits, in the order of submission.
#[derive(Clone, Debug)]
struct Known {
    ticket: Ticket,
    group: usize,
    since: Instant,
}

/// The schedule beside a list of what it should hold.
struct Pair {
    schedule: Schedule<usize, (usize, Rc<()>)>,
    list: Vec<Known>,
    now: Instant,
    policy: FlushPolicy,
    /// Groups in the order of their last turns; those that had none are not among them.
    turns: Vec<usize>,
    gone: BTreeSet<Ticket>,
    /// Counts the items that are alive.
    alive: Rc<()>,
}

impl Pair {
    fn new(start: Instant) -> Self {
        Self {
            schedule: Schedule::new(),
            list: Vec::new(),
            now: start,
            policy: FlushPolicy::with_deadline(DEADLINE),
            turns: Vec::new(),
            gone: BTreeSet::new(),
            alive: Rc::new(()),
        }
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Submit(group) => {
                let item = (group, self.alive.clone());
                let ticket = self.schedule.push(group, LANES[group], item, self.now);
                assert!(!self.gone.contains(&ticket), "a ticket is used once");
                self.list.push(Known {
                    ticket,
                    group,
                    since: self.now,
                });
            }
            Event::CancelOldest => self.cancel(0),
            Event::CancelNewest => self.cancel(self.list.len().saturating_sub(1)),
            Event::Wait => self.now += DEADLINE / 2,
            Event::Poll { alone } => {
                self.check_alone(alone);
                let cutoff = alone.then(|| self.schedule.cutoff());
                while self.run_one(alone, cutoff, |count| count) {}
                if alone {
                    assert!(self.list.is_empty(), "nothing is left");
                }
            }
            Event::PollOne { alone } => {
                self.check_alone(alone);
                let cutoff = alone.then(|| self.schedule.cutoff());
                self.run_one(alone, cutoff, part);
            }
        }
        self.check();
    }

    fn check_alone(&self, alone: bool) {
        let submitters = self.list.len() + usize::from(!alone);
        let found = self.policy.is_alone(self.schedule.len(), Some(submitters));
        assert_eq!(found, alone);
    }

    fn cancel(&mut self, at: usize) {
        let Some(known) = self.list.get(at).cloned() else {
            return;
        };
        let item = self.schedule.cancel(known.ticket).expect("it waits");
        assert_eq!(item.0, known.group);
        assert!(
            self.schedule.cancel(known.ticket).is_none(),
            "cancelled once"
        );
        self.list.remove(at);
        self.gone.insert(known.ticket);
    }

    /// Runs one batch, if one is due.
    fn run_one(
        &mut self,
        everything: bool,
        cutoff: Option<Cutoff>,
        part: fn(usize) -> usize,
    ) -> bool {
        let expected = self.expected(everything, part);
        let mut batch = Vec::new();
        let (policy, now) = (self.policy, self.now);
        let part = |_: &_, count| part(count);
        let ran = self
            .schedule
            .take_due(&policy, now, cutoff, part, &mut batch);
        assert_eq!(ran, expected.is_some());
        let Some((group, expected)) = expected else {
            return false;
        };
        let taken: Vec<_> = batch.iter().map(|entry| entry.ticket).collect();
        assert_eq!(taken, expected);
        self.list.retain(|known| !expected.contains(&known.ticket));
        self.turns.retain(|&other| other != group);
        self.turns.push(group);
        self.gone.extend(&expected);
        true
    }

    /// The batch that the rules ask for next: of the groups that are due that of the longest past
    /// turn, or with the item submitted first of those that had none; its first items, as many as
    /// there are lanes, or `part` of them if no other group is due.
    fn expected(&self, everything: bool, part: fn(usize) -> usize) -> Option<(usize, Vec<Ticket>)> {
        let of = |group: usize| self.list.iter().filter(move |known| known.group == group);
        let due = |group: usize| {
            let full = of(group).count() >= LANES[group];
            let old = of(group).any(|known| self.now - known.since >= DEADLINE);
            of(group).count() > 0 && (everything || full || old)
        };
        let all: Vec<_> = (0..LANES.len()).filter(|&group| due(group)).collect();
        let turn = |group: &usize| {
            let had = self.turns.iter().position(|other| other == group);
            (had, of(*group).next().map(|known| known.ticket))
        };
        let first = *all.iter().min_by_key(|group| turn(group))?;
        let mut count = of(first).count().min(LANES[first]);
        if all.len() == 1 {
            count = part(count);
        }
        let tickets = of(first).map(|known| known.ticket);
        Some((first, tickets.take(count).collect()))
    }

    fn check(&self) {
        assert_eq!(self.schedule.len(), self.list.len());
        let due_at = self.list.iter().map(|known| known.since + DEADLINE).min();
        assert_eq!(self.schedule.due_at(&self.policy), due_at);
        assert_eq!(
            Rc::strong_count(&self.alive) - 1,
            self.list.len(),
            "what does not wait has been given back"
        );
    }
}

#[test]
fn every_interleaving_of_submit_poll_cancel_and_flush() {
    let start = Instant::now();
    let sequences = EVENTS.len().pow(u32::try_from(DEPTH).unwrap());
    for number in 0..sequences {
        let mut pair = Pair::new(start);
        let mut rest = number;
        for _ in 0..DEPTH {
            pair.apply(EVENTS[rest % EVENTS.len()]);
            rest /= EVENTS.len();
        }
        // Dropped with whatever still waits: nothing of it is left behind.
        let Pair {
            schedule, alive, ..
        } = pair;
        drop(schedule);
        assert_eq!(Rc::strong_count(&alive), 1);
    }
}

/// Longer ones at random: full batches of three beside cancelled ones need more than the depth.
#[test]
fn long_interleavings_at_random() {
    let start = Instant::now();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..2_000 {
        let mut pair = Pair::new(start);
        for _ in 0..60 {
            let index = random.usize(..16);
            // Half of all events submit; of the others one in eight waits.
            pair.apply(EVENTS[if index < 8 { index % 2 } else { index - 7 }]);
        }
    }
}

#[test]
fn a_busy_group_does_not_starve_a_partial_batch_of_another() {
    let start = Instant::now();
    let policy = FlushPolicy::with_deadline(DEADLINE);
    let mut schedule = Schedule::new();
    let lonely = schedule.push('a', 8, (), start);
    let mut ran = Vec::new();
    for step in 0..100 {
        let now = start + Duration::from_micros(10) * step;
        // Twice what is run, so ever more of it is older than the lonely one's deadline.
        for _ in 0..16 {
            schedule.push('b', 8, (), now);
        }
        let mut batch = Vec::new();
        assert!(schedule.take_due(&policy, now, None, |_, count| count, &mut batch));
        ran.push((step, batch[0].ticket));
    }
    let (step, _) = ran
        .iter()
        .find(|(_, first)| *first == lonely)
        .expect("it ran");
    assert_eq!(*step, 20, "as soon as its deadline has passed");
}
