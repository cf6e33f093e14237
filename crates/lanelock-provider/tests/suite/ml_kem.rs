//! ML-KEM by itself, which the default provider has from 3.5 on: in lanes with its keys.

use std::ffi::CStr;

use crate::hybrid::{default_provider_has_them, in_batches, outside_and_in_jobs};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library};

const NAMES: [&CStr; 3] = [c"ML-KEM-512", c"ML-KEM-768", c"ML-KEM-1024"];

#[test]
fn lanes_give_the_default_providers_secrets() {
    let library = Library::new();
    for name in NAMES {
        let what = name.to_str().expect("ASCII");
        if !default_provider_has_them() {
            let key = Key::try_generate(&library, Kind::Raw(name), c"provider=lanelock");
            assert!(key.is_err(), "before 3.5 there is no {what}");
            continue;
        }
        let generate = |_: &()| Key::generate(&library, Kind::Raw(name), LANELOCK);
        for ours in outside_and_in_jobs(&[()], generate) {
            assert_eq!(ours.provider(), "lanelock");
            let theirs = ours.in_provider(name, DEFAULT);
            let back = theirs.in_provider(name, LANELOCK);
            assert!(ours.is_equal(&theirs) && ours.is_equal(&back));
            let replies = in_batches(what, || ours.encapsulate().expect("encapsulated"));
            for (reply, secret) in &replies {
                assert_eq!(theirs.decapsulate(reply).as_ref(), Ok(secret));
            }
            let (mut reply, secret) = theirs.encapsulate().expect("encapsulated");
            let secrets = in_batches(what, || back.decapsulate(&reply));
            assert!(secrets.iter().all(|it| it.as_ref() == Ok(&secret)));
            // A changed ciphertext gives the secret that the key and it determine.
            reply[9] ^= 4;
            let other = theirs.decapsulate(&reply).expect("no error");
            let secrets = in_batches(what, || ours.decapsulate(&reply));
            assert!(other != secret && secrets.iter().all(|it| it.as_ref() == Ok(&other)));
        }
    }
}

#[test]
fn what_lanes_do_not_do_is_the_default_providers() {
    if !default_provider_has_them() {
        return;
    }
    let library = Library::new();
    for name in NAMES {
        let ours = Key::generate(&library, Kind::Raw(name), LANELOCK);
        let theirs = ours.in_provider(name, DEFAULT);
        let expected = theirs.encapsulate_with(&[7; 32]).expect("encapsulated");
        outside_and_in_jobs(&[(); 9], |()| {
            assert_eq!(ours.encapsulate_with(&[7; 32]).as_ref(), Ok(&expected));
            assert!(ours.decapsulate(&expected.0[1..]).is_err());
        });
        // A peer's key, of which a coefficient is 3329.
        let mut share = ours.share();
        (share[0], share[1]) = (0x01, share[1] & 0xf0 | 0x0d);
        outside_and_in_jobs(&[()], |()| {
            let key = Key::of_share(&library, (name, name), &share, LANELOCK);
            assert!(key.is_err(), "{name:?}");
        });
    }
}
