//! The names under which programs find the guard.
//!
//! They have libssl's version, and are hidden: the loader binds references to them that ask for
//! this version, which those of programs do that were linked with OpenSSL's libssl. References to
//! another version, as of a bundled OpenSSL 1.1, and those without one, as of BoringSSL's, never
//! come here. What stands before the C library's functions has its versions (`build.rs`). Each name
//! is a jump, so that name and version are given in one piece of assembly.

#![cfg(all(target_arch = "x86_64", not(test)))]

macro_rules! symbols {
    ($($name:literal @ $version:expr => $function:path,)*) => {
        $(
            std::arch::global_asm!(
                concat!(".pushsection .text.lanelock_", $name, ",\"ax\",@progbits"),
                concat!(".globl lanelock_", $name),
                concat!(".type lanelock_", $name, ",@function"),
                concat!("lanelock_", $name, ":"),
                "endbr64",
                "jmp {function}",
                concat!(".size lanelock_", $name, ", . - lanelock_", $name),
                concat!(".symver lanelock_", $name, ", ", $name, "@", $version),
                ".popsection",
                function = sym $function,
            );
        )*
    };
}

pub(crate) use symbols;

symbols! {
    "SSL_free" @ env!("LANELOCK_LIBSSL_VERSION") => super::free,
    "SSL_up_ref" @ env!("LANELOCK_LIBSSL_VERSION") => super::up_ref,
    "SSL_dup" @ env!("LANELOCK_LIBSSL_VERSION") => super::dup,
    "SSL_clear" @ env!("LANELOCK_LIBSSL_VERSION") => super::clear,
    "SSL_set_info_callback" @ env!("LANELOCK_LIBSSL_VERSION") => super::set_info_callback,
    "SSL_get_info_callback" @ env!("LANELOCK_LIBSSL_VERSION") => super::info_callback,
    "SSL_CTX_set_info_callback" @ env!("LANELOCK_LIBSSL_VERSION") => super::ctx_set_info_callback,
    "SSL_CTX_get_info_callback" @ env!("LANELOCK_LIBSSL_VERSION") => super::ctx_info_callback,
}
