//! Outside of jobs: everything as the default provider does it.

use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library, Scheme};

/// Every kind of key that signs, with its schemes.
pub const SIGNERS: [(Kind, Scheme); 10] = [
    (Kind::Rsa(2048), Scheme::Hash(c"SHA256")),
    (Kind::Rsa(2048), Scheme::Pss(c"SHA256")),
    (Kind::Rsa(2048), Scheme::Pss(c"SHA512")),
    (Kind::Rsa(3072), Scheme::Hash(c"SHA384")),
    (Kind::RsaPss(2048), Scheme::Pss(c"SHA384")),
    (Kind::Ec(c"P-256"), Scheme::Hash(c"SHA256")),
    (Kind::Ec(c"P-256"), Scheme::Hash(c"SHA384")),
    (Kind::Ec(c"P-384"), Scheme::Hash(c"SHA384")),
    (Kind::Ec(c"P-521"), Scheme::Hash(c"SHA512")),
    (Kind::Raw(c"ED25519"), Scheme::Pure),
];

/// The name under which a kind is imported.
pub fn name(kind: Kind) -> &'static std::ffi::CStr {
    match kind {
        Kind::Rsa(_) => c"RSA",
        Kind::RsaPss(_) => c"RSA-PSS",
        Kind::Ec(_) | Kind::ExplicitEc(_) => c"EC",
        Kind::Raw(name) => name,
    }
}

#[test]
fn each_provider_verifies_what_the_other_signs() {
    let library = Library::new();
    for (kind, scheme) in SIGNERS {
        let ours = Key::generate(&library, kind, LANELOCK);
        assert_eq!(ours.provider(), "lanelock");
        let theirs = ours.in_provider(name(kind), DEFAULT);
        assert_eq!(theirs.provider(), "default");
        assert!(ours.is_equal(&theirs), "{kind:?}");
        let message = b"signed by one, verified by the other";
        for (signer, verifier) in [(&ours, &theirs), (&theirs, &ours)] {
            let signature = signer.sign(&scheme, message).expect("signed");
            assert!(
                verifier.verify(&scheme, message, &signature),
                "{kind:?} {scheme:?}"
            );
            assert!(!verifier.verify(&scheme, b"another message", &signature));
        }
    }
}

#[test]
fn secrets_are_shared_across_providers() {
    let library = Library::new();
    for kind in [
        Kind::Raw(c"X25519"),
        Kind::Ec(c"P-256"),
        Kind::Ec(c"P-384"),
        Kind::Ec(c"P-521"),
    ] {
        let [one, other] = [(); 2].map(|()| Key::generate(&library, kind, LANELOCK));
        let [their_one, their_other] =
            [&one, &other].map(|key| key.in_provider(name(kind), DEFAULT));
        let secret = one.derive(&other).expect("ours");
        assert_eq!(
            secret,
            their_other.derive(&their_one).expect("theirs"),
            "{kind:?}"
        );
    }
}

#[test]
fn each_provider_decrypts_what_the_other_encrypts() {
    let library = Library::new();
    let ours = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    let theirs = ours.in_provider(c"RSA", DEFAULT);
    for padding in [1, 3, 4] {
        let message = vec![7; if padding == 3 { 256 } else { 32 }];
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let ciphertext = one.crypt(false, padding, &message).expect("encrypted");
            let back = other.crypt(true, padding, &ciphertext).expect("decrypted");
            assert_eq!(back, message, "padding {padding}");
        }
    }
}
