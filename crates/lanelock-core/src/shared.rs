//! Values that are shared by everything with the same key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One value for each key.
///
/// A value in use stays. One that is not in use any more is kept for whoever asks for its key
/// next, until such values may be half of all; then they all go. So the table is bounded by the
/// keys in use at a time, not by all that there ever were, which peers may choose.
#[derive(Debug)]
pub(crate) struct Shared<K, V>(Mutex<Table<K, V>>);

#[derive(Debug)]
struct Table<K, V> {
    values: HashMap<K, Arc<V>>,
    /// Number of values at which those not in use are dropped.
    prune_at: usize,
}

/// Values that are kept whether or not they are in use; more than there are algorithms in use in
/// most processes.
pub(crate) const KEPT: usize = 256;

impl<K: Eq + Hash, V> Shared<K, V> {
    /// The value of `key`, made by `make` if there is none. It is in use for as long as the
    /// reference or a clone of it lives.
    pub(crate) fn get_or_make(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let mut table = self.lock();
        if let Some(known) = table.values.get(&key) {
            return known.clone();
        }
        if table.values.len() >= table.prune_at {
            // References are made under the lock, or from one that is in use.
            table.values.retain(|_, value| Arc::strong_count(value) > 1);
            table.prune_at = KEPT.max(2 * table.values.len());
        }
        let made = Arc::new(make());
        table.values.insert(key, made.clone());
        made
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().values.len()
    }

    fn lock(&self) -> MutexGuard<'_, Table<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Table {
            values: HashMap::new(),
            prune_at: KEPT,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_for_each_key_remembered_while_there_is_room() {
        let shared = Shared::default();
        let first = shared.get_or_make(1, || "one");
        assert!(Arc::ptr_eq(&first, &shared.get_or_make(1, || "another")));
        assert_eq!(*shared.get_or_make(2, || "two"), "two");
        assert_eq!(*shared.get_or_make(2, || "another"), "two");
    }

    #[test]
    fn what_is_in_use_stays_and_the_rest_does_not_pile_up() {
        let shared = Shared::default();
        let mut used = Vec::new();
        for key in 0..100_000 {
            let value = shared.get_or_make(key, || key);
            if key % 100 == 0 {
                used.push(value);
            }
            assert!(shared.len() <= KEPT.max(2 * used.len() + 2), "{key}");
        }
        for (value, key) in used.iter().zip((0..).step_by(100)) {
            assert!(Arc::ptr_eq(value, &shared.get_or_make(key, || 0)));
        }
    }
}
