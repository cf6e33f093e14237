use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use super::*;

/// Counts its living instances.
struct Counted(Arc<AtomicUsize>, u32);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>, value: u32) -> Result<Self, Infallible> {
        alive.fetch_add(1, Ordering::SeqCst);
        Ok(Self(alive.clone(), value))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn each_token_has_its_own_value_made_once() {
    let alive = Arc::new(AtomicUsize::new(0));
    let table = PerQueue::new();
    let mut tokens: Vec<_> = (0..10).map(|_| QueueToken::new()).collect();
    for round in 0..2 {
        for (i, token) in tokens.iter_mut().enumerate() {
            let value = table
                .get_or_try_make(token, || Counted::new(&alive, u32::try_from(i).unwrap()))
                .unwrap();
            assert_eq!(value.1 as usize, i + round * 100);
            value.1 += 100;
        }
    }
    assert_eq!(alive.load(Ordering::SeqCst), 10);
}

#[test]
fn values_go_with_the_token_or_the_table() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (first, second) = (PerQueue::new(), PerQueue::new());
    let mut token = QueueToken::new();
    let mut other = QueueToken::new();
    for table in [&first, &second] {
        table
            .get_or_try_make(&mut token, || Counted::new(&alive, 0))
            .unwrap();
        table
            .get_or_try_make(&mut other, || Counted::new(&alive, 0))
            .unwrap();
    }
    assert_eq!(alive.load(Ordering::SeqCst), 4);
    drop(first);
    assert_eq!(alive.load(Ordering::SeqCst), 2);
    drop(token);
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(second);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

#[test]
fn a_failed_make_leaves_the_slot_empty() {
    let table = PerQueue::new();
    let mut token = QueueToken::new();
    assert_eq!(
        table
            .get_or_try_make(&mut token, || Err::<u8, _>("no"))
            .err(),
        Some("no")
    );
    assert_eq!(
        table.get_or_try_make(&mut token, || Ok::<_, &str>(5)),
        Ok(&mut 5)
    );
}

#[test]
fn dead_tables_are_forgotten() {
    let mut token = QueueToken::new();
    for _ in 0..10_000 {
        let table = PerQueue::new();
        table
            .get_or_try_make(&mut token, || Ok::<_, Infallible>(1))
            .unwrap();
    }
    assert!(token.filled.len() <= 128, "{}", token.filled.len());
}

#[test]
fn tokens_and_tables_may_go_on_different_threads() {
    const ROUNDS: usize = 200;
    let alive = Arc::new(AtomicUsize::new(0));
    for _ in 0..ROUNDS {
        let table = Arc::new(PerQueue::new());
        let barrier = Arc::new(Barrier::new(3));
        let users: Vec<_> = (0..2)
            .map(|_| {
                let (table, barrier, alive) = (table.clone(), barrier.clone(), alive.clone());
                std::thread::spawn(move || {
                    let mut token = QueueToken::new();
                    table
                        .get_or_try_make(&mut token, || Counted::new(&alive, 1))
                        .unwrap();
                    barrier.wait();
                    drop(table);
                    drop(token);
                })
            })
            .collect();
        barrier.wait();
        drop(table);
        users.into_iter().for_each(|user| user.join().unwrap());
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn living_tokens_never_share_a_number() {
    let mut tokens: Vec<_> = (0..40).map(|_| QueueToken::new()).collect();
    for round in 0..20 {
        tokens.retain(|token| token.number % 3 != round % 3);
        let fresh = 40 - tokens.len();
        tokens.extend((0..fresh).map(|_| QueueToken::new()));
        let numbers: BTreeSet<_> = tokens.iter().map(|token| token.number).collect();
        assert_eq!(numbers.len(), 40);
    }
}

#[test]
fn numbers_are_taken_again_so_that_tables_stay_small() {
    let mut highest = 0;
    for _ in 0..10_000 {
        highest = QueueToken::new().number.max(highest);
    }
    // Other tests hold some at the same time.
    assert!(highest < 1000, "{highest}");
}

/// Bytes of the slots that a table has allocated.
fn allocated<T>(table: &PerQueue<T>) -> usize {
    let chunks = table.slots.chunks.iter().filter_map(OnceLock::get);
    chunks.map(|chunk| size_of_val(&**chunk)).sum()
}

#[test]
fn slots_are_bounded_by_the_queue_pairs_whoever_uses_them() {
    let mut tokens: Vec<_> = (0..300).map(|_| QueueToken::new()).collect();
    tokens.sort_by_key(|token| token.number);
    let (all, last) = (PerQueue::new(), PerQueue::new());
    let make = || Ok::<_, Infallible>(1_u8);
    let mut highest = 0;
    for token in &mut tokens {
        all.get_or_try_make(token, make).unwrap();
        highest = token.number as usize;
        assert!(allocated(&all) <= 2 * highest * size_of::<usize>());
    }
    let token = tokens.last_mut().unwrap();
    last.get_or_try_make(token, make).unwrap();
    assert!(allocated(&last) <= highest * size_of::<usize>());
    assert!(allocated(&last) > 0);
}
