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

/// The public keys that have lanes, from the fewest on.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Lanes {
    /// None but ML-KEM's, which the provider then leaves alone: no job pauses.
    None,
    /// X25519, Ed25519, P-384 and ML-KEM.
    Some,
    /// RSA and P-256 as well.
    All,
}

/// Those of this CPU, or of what `LANELOCK_TIER` makes of it.
#[must_use]
pub fn lanes() -> Lanes {
    let tier = std::env::var("LANELOCK_TIER").ok();
    let allows = |name: &str| tier.as_ref().is_none_or(|tier| tier == name);
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        if allows("avx512") && has!("avx512ifma") && has!("avx512vbmi2") && has!("vaes") {
            return Lanes::All;
        }
        if (allows("avx512") || allows("avx2")) && has!("avx2") && has!("fma") {
            return Lanes::Some;
        }
    }
    let _ = allows;
    Lanes::None
}

/// Whether there are lanes for X25519, Ed25519 and P-384; elsewhere a line says what is skipped.
#[must_use]
pub fn has_lanes() -> bool {
    reaches(Lanes::Some, "public keys")
}

/// Whether there are lanes for RSA and P-256 too; elsewhere a line says what is skipped.
#[must_use]
pub fn has_all_lanes() -> bool {
    reaches(Lanes::All, "RSA and P-256")
}

fn reaches(least: Lanes, keys: &str) -> bool {
    let is = lanes() >= least;
    if !is {
        eprintln!("SKIPPED: what needs lanes for {keys}; this machine, or LANELOCK_TIER, has none");
    }
    is
}
