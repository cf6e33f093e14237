//! Operations that wait for each other, and the threads that brought them.
//!
//! No lock is held anywhere: a thread that is interrupted here, for however long, keeps nobody else
//! from going on. Whoever takes the line has all that stood in it; from then on each [`Waiter`] is
//! shared by two, the one that runs its work and the one that waits for it, which may leave at any
//! time.

use super::primitives::{Arc, AtomicPtr, AtomicU32, BELLS, Bell, Ordering, Patience, UnsafeCell};

/// Work on its way from the thread that brought it to the one that runs it, and back. Its address
/// leaves room for a count below it.
#[repr(align(64))]
pub(super) struct Waiter<T> {
    state: AtomicU32,
    /// Which of the line's bells wakes its thread.
    bell: usize,
    /// Whoever moved the state last may touch it: who takes the work from [`WAITING`] on to
    /// [`TAKEN`], who waits from [`DONE`] on.
    work: UnsafeCell<Option<T>>,
    /// The one before in the line, with the line's count then. Written before the line has it.
    next: UnsafeCell<*mut Self>,
}

// SAFETY: the state says which one thread may touch the rest.
unsafe impl<T: Send> Send for Waiter<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Waiter<T> {}

/// In the line.
const WAITING: u32 = 0;
/// Somebody runs it.
const TAKEN: u32 = 1;
/// The result is there, or that there is none.
const DONE: u32 = 2;
/// Nobody waits for it any more.
const LEFT: u32 = 3;

impl<T> Waiter<T> {
    fn new(work: T, bell: usize) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU32::new(WAITING),
            bell,
            work: UnsafeCell::new(Some(work)),
            next: UnsafeCell::new(std::ptr::null_mut()),
        })
    }

    /// Whether nobody has taken it yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.state.load(Ordering::Relaxed) == WAITING
    }

    /// Takes the work to run it; `None` if nobody waits for it any more. [`Waiter::finish`] is to
    /// follow.
    fn claim(&self) -> Option<T> {
        self.advance(WAITING, TAKEN).ok()?;
        // SAFETY: the state is [`TAKEN`], by this thread.
        self.work.with_mut(|work| unsafe { (*work).take() })
    }

    /// Hands over the result of what this thread has claimed; without one the other is to run it by
    /// itself. It sleeps on until the bell rings.
    pub(super) fn finish(&self, result: Option<T>) {
        // SAFETY: the state is [`TAKEN`], by this thread, or nobody waits.
        self.work.with_mut(|work| unsafe { *work = result });
        self.state.store(DONE, Ordering::Release);
    }

    /// Sleeps until it is woken with the work taken or done, or the patience is at its end.
    fn sleep_in_line(&self, bell: &Bell, mut patience: Patience) {
        while self.sleep_once(bell, WAITING, &mut patience) {}
    }

    /// Sleeps until there is a result, and returns it; `None` if there is none, or not within
    /// `patience`, and then the work is the caller's to do again.
    fn sleep(&self, bell: &Bell, mut patience: Patience) -> Option<T> {
        while self.sleep_once(bell, TAKEN, &mut patience) {}
        // In this order: it may be taken meanwhile.
        let has_left = |state| self.advance(state, LEFT).is_ok();
        if has_left(WAITING) || has_left(TAKEN) {
            return None;
        }
        // SAFETY: the state is [`DONE`]: the other is through with it.
        self.work.with_mut(|work| unsafe { (*work).take() })
    }

    /// Sleeps at most once if it has come no further than `state`; false if it has, or the patience is
    /// at its end.
    fn sleep_once(&self, bell: &Bell, state: u32, patience: &mut Patience) -> bool {
        // First, so that it rings once more for whatever the state does not show yet.
        let rung = bell.load(Ordering::Acquire);
        self.state.load(Ordering::Acquire) <= state && bell.park(rung, patience)
    }

    fn advance(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// That the line is taken.
    InLine,
    /// That its work is done.
    Taken,
}

/// Work, and who waits for it.
pub(super) type Claimed<T> = (Arc<Waiter<T>>, T);

/// Those who wait, the last to come first.
pub(super) struct Line<T> {
    /// With their number in the bits that an address leaves.
    head: AtomicPtr<Waiter<T>>,
    /// How often it was taken: who stands in it at the same time has the same bell, mostly.
    taken: AtomicU32,
    /// Each wakes all who sleep on it, and counts how often. Who is woken for others' sake sleeps on.
    bells: [Bell; BELLS],
}

/// Most that a line has room for.
const MOST: usize = align_of::<Waiter<()>>() - 1;

impl<T> Line<T> {
    pub(super) fn new() -> Self {
        Self {
            head: AtomicPtr::new(std::ptr::null_mut()),
            taken: AtomicU32::new(0),
            bells: std::array::from_fn(|_| Bell::new()),
        }
    }

    /// Brings `work` to the line, and waits until it has been run with that of others: its result, or
    /// `None` if it has none, and then the work is the caller's to do again.
    ///
    /// Who comes first calls `collect`, which may wait until the line is full or taken. Who finds that it
    /// is not taken then, or has filled it, or has waited in it for `patience`, calls `serve` with all
    /// who stand in it, which is to [`Waiter::finish`] each. Nobody waits for longer than `patience` for
    /// a result, either.
    pub(super) fn meet(
        &self,
        work: T,
        full: usize,
        collect: impl FnOnce(&Waiter<T>),
        serve: impl FnOnce(Vec<Claimed<T>>),
        patience: impl Fn(Stage) -> Patience,
    ) -> Option<T> {
        let waiter = self.waiter(work);
        let bell = &self.bells[waiter.bell];
        match self.push(&waiter)? {
            1 => collect(&waiter),
            place if place < full => waiter.sleep_in_line(bell, patience(Stage::InLine)),
            _ => {}
        }
        if waiter.is_waiting() {
            let waiters = self.take();
            let others = waiters
                .iter()
                .filter(|other| !std::ptr::eq(&***other, &*waiter));
            let bells = others.fold(0, |bells, other| bells | 1 << other.bell);
            // When all have their results: one call of the kernel wakes them.
            let _ring = Ring(self, bells);
            let claim = |waiter: Arc<Waiter<T>>| waiter.claim().map(|work| (waiter, work));
            serve(waiters.into_iter().filter_map(claim).collect());
        }
        waiter.sleep(bell, patience(Stage::Taken))
    }

    /// One who is about to join it.
    pub(super) fn waiter(&self, work: T) -> Arc<Waiter<T>> {
        let taken = self.taken.load(Ordering::Relaxed);
        Waiter::new(work, taken as usize % BELLS)
    }

    /// How many stand in it.
    pub(super) fn len(&self) -> usize {
        self.head.load(Ordering::Relaxed).addr() & MOST
    }

    /// Joins it: the place, from 1 on; `None` if there is no room.
    pub(super) fn push(&self, waiter: &Arc<Waiter<T>>) -> Option<usize> {
        let ours = Arc::into_raw(Arc::clone(waiter)).cast_mut();
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let place = (head.addr() & MOST) + 1;
            if place > MOST {
                // SAFETY: made above, and not in the line.
                drop(unsafe { Arc::from_raw(ours) });
                return None;
            }
            // SAFETY: it is not in the line yet, so that nobody else looks at it.
            waiter.next.with_mut(|next| unsafe { *next = head });
            let counted = ours.map_addr(|at| at | place);
            // That the same head may have left and come back meanwhile does no harm: it is only
            // put behind this one.
            let placed =
                self.head
                    .compare_exchange(head, counted, Ordering::AcqRel, Ordering::Relaxed);
            match placed {
                Ok(_) => return Some(place),
                Err(now) => head = now,
            }
        }
    }

    /// Takes all who stand in it, the first to come first.
    pub(super) fn take(&self) -> Vec<Arc<Waiter<T>>> {
        let mut taken = Vec::new();
        let mut at = self.head.swap(std::ptr::null_mut(), Ordering::AcqRel);
        self.taken.fetch_add(1, Ordering::Relaxed);
        while !at.is_null() {
            let place = at.map_addr(|at| at & !MOST).cast_const();
            // SAFETY: `push` put it there, and nobody else has the line's share of it.
            let waiter = unsafe { Arc::from_raw(place) };
            // SAFETY: written before it was in the line.
            at = waiter.next.with(|next| unsafe { *next });
            taken.push(waiter);
        }
        taken.reverse();
        taken
    }
}

/// Rings these bells of a line, a bit for each, when it goes.
struct Ring<'l, T>(&'l Line<T>, u32);

impl<T> Drop for Ring<'_, T> {
    fn drop(&mut self) {
        let Self(line, bells) = self;
        let is_rung = |place: &usize| *bells & 1 << place != 0;
        for place in (0..BELLS).filter(is_rung) {
            line.bells[place].ring();
        }
    }
}

impl<T> Drop for Line<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
