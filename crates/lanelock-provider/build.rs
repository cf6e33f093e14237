//! The module stays mapped once it is loaded: descriptors of connections and thread-local state
//! refer to its code, and outlive the provider that OpenSSL unloads.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
