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

/// Whether public keys have lanes on this CPU, or in what `LANELOCK_TIER` makes of it; elsewhere a line
/// says what is skipped. ML-KEM's are everywhere, and where there are no others the provider leaves them
/// alone.
#[must_use]
pub fn has_lanes() -> bool {
    lanes() > 1
}

/// Operations of a full batch of public keys: eight with AVX-512 IFMA, else four; one where there are no lanes,
/// as [`has_lanes`] says.
#[must_use]
pub fn lanes() -> usize {
    let tier = std::env::var("LANELOCK_TIER").ok();
    let allows = |name: &str| tier.as_ref().is_none_or(|tier| tier == name);
    #[cfg(target_arch = "x86_64")]
    let has = ["avx512", "avx512bw", "avx2"].into_iter().any(allows)
        && std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let has = allows("none");
    if !has {
        eprintln!(
            "SKIPPED: what needs lanes for public keys; this machine, or LANELOCK_TIER, has none"
        );
        return 1;
    }
    #[cfg(target_arch = "x86_64")]
    if allows("avx512")
        && std::is_x86_feature_detected!("avx512ifma")
        && std::is_x86_feature_detected!("avx512vbmi2")
        && std::is_x86_feature_detected!("vaes")
        && std::is_x86_feature_detected!("gfni")
    {
        return 8;
    }
    4
}
