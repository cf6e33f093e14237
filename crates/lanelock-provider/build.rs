//! The module stays mapped once it is loaded: descriptors of connections and thread-local state
//! refer to its code, and outlive the provider that OpenSSL unloads.
//!
//! What it defines of libssl's names has libssl's version, so that no call is captured that is
//! bound to another library. Versions are those of the libcrypto that it is linked with.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let version = libssl_version();
    println!("cargo:rustc-env=LANELOCK_LIBSSL_VERSION={version}");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return;
    }
    // References without a version are bound to the first version that a library defines, too:
    // libssl's comes second, then those of the C library that functions had from their start.
    let libc = ["2.2.5", "2.3.2", "2.4", "2.6", "2.16", "2.35"];
    let libc = libc.map(|version| format!("GLIBC_{version} {{ }};\n"));
    let script = format!("LANELOCK_1 {{ }};\n{version} {{ }};\n{}", libc.concat());
    let folder = env::var_os("OUT_DIR").expect("Cargo sets it");
    let file = Path::new(&folder).join("versions");
    std::fs::write(&file, script).expect("Cargo's own folder can be written to");
    let file = file.display();
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={file}");
    // Beside the script that rustc writes, GNU ld takes no other.
    println!("cargo:rustc-cdylib-link-arg=-fuse-ld=lld");
}

/// The version that libssl gives to what it has had from the start.
fn libssl_version() -> &'static str {
    println!("cargo:rerun-if-env-changed=DEP_OPENSSL_VERSION_NUMBER");
    let number = env::var("DEP_OPENSSL_VERSION_NUMBER").expect("set by openssl-sys");
    let number = u64::from_str_radix(&number, 16).expect("hexadecimal");
    match number >> 28 {
        3 => "OPENSSL_3.0.0",
        4 => "OPENSSL_4.0.0",
        other => panic!("OpenSSL {other} is not known; the provider is for 3.x and 4.x"),
    }
}
