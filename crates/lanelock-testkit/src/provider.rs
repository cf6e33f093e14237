//! What tests of programs under the OpenSSL provider need.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The provider's module as Cargo has built it for this test, under the name by which OpenSSL looks
/// for it.
///
/// # Panics
/// If the test's package does not depend on the provider, which then was not built.
#[must_use]
pub fn provider_module() -> PathBuf {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    let module = MODULE.get_or_init(|| {
        let test = std::env::current_exe().expect("a path");
        let deps = test.parent().expect("a directory");
        let built = deps.join("liblanelock_provider.so");
        let directory = deps.join("lanelock-provider-module");
        std::fs::create_dir_all(&directory).expect("a directory for the module");
        // Put in place whole: tests of other binaries may load it at this moment.
        let fresh = directory.join(format!("{}.tmp", std::process::id()));
        std::fs::copy(&built, &fresh).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
        let module = directory.join("lanelock.so");
        std::fs::rename(&fresh, &module).expect("in the same directory");
        module
    });
    module.clone()
}

/// Whether this CPU has lanes for public keys; elsewhere no job pauses, and a line says so.
#[must_use]
pub fn has_lanes() -> bool {
    let forced = std::env::var("LANELOCK_TIER").is_ok_and(|tier| tier != "avx512");
    #[cfg(target_arch = "x86_64")]
    let ifma = is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("vaes");
    #[cfg(not(target_arch = "x86_64"))]
    let ifma = false;
    if forced || !ifma {
        eprintln!(
            "SKIPPED: what needs lanes for public keys; this machine, or LANELOCK_TIER, has none"
        );
    }
    !forced && ifma
}
