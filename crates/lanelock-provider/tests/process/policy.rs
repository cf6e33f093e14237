//! Which providers there are is the application's decision.

use crate::alone;
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library};

const OURS: &std::ffi::CStr = c"provider=lanelock";

#[test]
fn a_default_provider_that_is_unloaded_is_gone() {
    let _alone = alone();
    let mut library = Library::empty();
    for name in [c"default", c"base", c"lanelock"] {
        library.load(name).expect("loaded");
    }
    assert_eq!(
        Key::generate(&library, Kind::Rsa(2048), LANELOCK).provider(),
        "lanelock"
    );
    library.unload_at(0);
    assert!(!library.is_available(c"default"), "still active");
    assert!(!library.has_digest(c"MD5", c""), "MD5");
    assert!(!library.has_digest(c"SHA256", c"provider=default"));
    for kind in [
        Kind::Rsa(512),
        Kind::Ec(c"P-256"),
        Kind::Raw(c"X25519"),
        Kind::Raw(c"ED25519"),
    ] {
        let refused = Key::try_generate(&library, kind, LANELOCK).err();
        assert!(refused.is_some(), "{kind:?} was generated");
    }
    let (info, status) = library.status_of(1);
    assert!(
        info.ends_with(
            "lanes: inactive, the application has not activated the default provider, which \
             lanelock needs"
        ) && status == 0,
        "{info} {status}"
    );
    library.load(c"default").expect("again");
    assert!(library.is_available(c"default") && library.has_digest(c"MD5", c""));
    let key = Key::generate(&library, Kind::Rsa(2048), OURS);
    key.sign_digest(&[1; 36]).expect("signed");
}

#[test]
fn a_key_outlives_the_default_provider() {
    let _alone = alone();
    let mut library = Library::new();
    let keys = {
        let library: &'static Library = unsafe { &*std::ptr::from_ref(&library) };
        [Kind::Ec(c"P-256"), Kind::Ec(c"P-384")].map(|kind| Key::generate(library, kind, OURS))
    };
    keys[0].sign_digest(&[1; 32]).expect("signed");
    library.unload_at(0);
    for key in &keys {
        assert!(key.is_equal(key));
        let error = key.sign_digest(&[1; 32]).expect_err("a new context");
        assert!(
            error.contains("lanelock: the application has unloaded the default provider"),
            "{error}"
        );
    }
    library.unload();
    drop(keys);
}

#[test]
fn without_the_default_provider_there_is_nothing_until_it_is_loaded() {
    let _alone = alone();
    let mut library = Library::empty();
    library.load(c"base").expect("loaded");
    library.load(c"lanelock").expect("loaded");
    assert!(!library.is_available(c"default"));
    for kind in [Kind::Rsa(2048), Kind::Rsa(512), Kind::Raw(c"X25519")] {
        let made = Key::try_generate(&library, kind, LANELOCK).is_ok();
        assert!(!made, "{kind:?} without the default provider");
    }
    assert!(!library.is_available(c"default"));
    assert_eq!(library.status_of(1).1, 0);
    library.load(c"default").expect("loaded");
    let key = Key::generate(&library, Kind::Rsa(2048), OURS);
    assert_eq!(key.provider(), "lanelock");
    assert!(key.is_equal(&key.in_provider(c"RSA", DEFAULT)));
}

#[test]
fn fips_asked_for_is_not_offered() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::try_generate(&library, Kind::Rsa(2048), c"fips=yes");
    assert!(key.is_err(), "lanelock is not FIPS");
    let other = Key::generate(&library, Kind::Rsa(2048), c"provider!=lanelock");
    assert_eq!(other.provider(), "default");
}
