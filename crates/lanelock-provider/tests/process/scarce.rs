//! A system that refuses something, and then no longer.

use crate::alone;
use crate::child::{again, output_of, role};
use crate::inactive::paused;
use crate::openssl::{Key, Kind, LANELOCK, Library};
use lanelock_testkit::{has_lanes, lanes};

/// Lets this process map so much and no more; the limit before.
fn limit_memory(to: libc::rlim_t) -> libc::rlim_t {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limit), 0);
        let before = limit.rlim_cur;
        limit.rlim_cur = to;
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
        before
    }
}

#[test]
fn what_memory_was_refused_for_is_tried_again() {
    const TEST: &str = "scarce::what_memory_was_refused_for_is_tried_again";
    if role().is_some() {
        let library = Library::new();
        let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
        // The allocator of this thread has what it mapped at its first use.
        let before = limit_memory(1 << 20);
        let without = paused(&key);
        println!("{:?}", library.status_of(1));
        limit_memory(before);
        let most = (0..8).map(|_| paused(&key)).max().expect("eight");
        println!("{:?}", library.status_of(1));
        println!("without memory {without}, with memory {most}");
        return;
    }
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let said = output_of(&mut again(TEST, "scarce"));
    for state in [
        "lanes: inactive, the system refused memory",
        "lanes: active",
    ] {
        assert!(said.contains(state), "{state}: {said}");
    }
    assert!(
        said.contains(&format!(
            "without memory 0, with memory {}\n",
            16 - 16 / lanes()
        )),
        "{said}"
    );
}
