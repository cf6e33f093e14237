//! Random cases against the models; the fuzz targets run the same checks.

use std::collections::HashMap;

use lanelock_testkit::{MENU, Verdict, check_cursor, check_operation, check_segments};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_cursor_sees_what_a_flat_copy_has(data in vec(any::<u8>(), 0..300)) {
        check_cursor(&data);
    }

    #[test]
    fn an_operation_does_what_the_model_of_the_rules_says(data in vec(any::<u8>(), 0..200)) {
        check_operation(&data);
    }

    #[test]
    fn segments_change_nothing(data in vec(any::<u8>(), 0..100)) {
        check_segments(&data);
    }
}

/// A check that refuses nearly everything, or nearly nothing, would prove little.
#[test]
fn random_operations_meet_every_verdict_for_every_transform() {
    let mut counts = HashMap::new();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..40_000 {
        let mut data = [0; 96];
        random.fill(&mut data);
        let setup = usize::from(data[0]) % MENU.len();
        *counts.entry((setup, check_operation(&data))).or_insert(0) += 1;
    }
    for (i, setup) in MENU.iter().enumerate() {
        let count = |verdict| counts.get(&(i, verdict)).copied().unwrap_or(0);
        assert!(count(Verdict::Processed) >= 100, "{i}: {counts:?}");
        assert!(count(Verdict::Refused) >= 200, "{i}: {counts:?}");
        if setup.tag_len > 0 && !setup.is_one_way() {
            assert!(count(Verdict::AuthFailed) >= 15, "{i}: {counts:?}");
        }
    }
}
