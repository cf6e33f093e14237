//! Whether there are lanes for public keys: on this machine, and just now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lanelock::engine::public_key::PublicKeyEngine;
use lanelock::public_key::{Curve, KeyKind, KeySpec, Operation};
use lanelock::telemetry::{Inactive, module};
use lanelock_native::{Digits, Native, TierError};

/// The lanes of this machine: all that [`Algorithm`] names has some.
///
/// [`Algorithm`]: crate::algorithms::Algorithm
#[derive(Debug)]
pub(crate) struct Lanes {
    /// What a program's own jobs pause for.
    paying: Vec<(KeyKind, Operation)>,
}

/// Processor time that a full batch has to save for each operation that pauses in a job of the program's
/// own: a pause there costs a descriptor's system calls and one more turn of the event loop.
const PAUSE: Duration = Duration::from_micros(15);

impl Lanes {
    /// Those of this CPU, or of the tier that the environment asks for.
    ///
    /// # Errors
    /// Why there are none. Where there is ML-KEM alone, no exchange of TLS would run whole.
    pub(crate) fn of_machine() -> Result<Self, Inactive> {
        match Native::new() {
            Err(TierError::Unknown(_)) => Err(Inactive::TierUnknown),
            Err(TierError::Unavailable(_)) => Err(Inactive::TierUnavailable),
            Ok(None) => check(Digits::Plain).and(Err(Inactive::Cpu)),
            Ok(Some(native)) => Self::of(&native),
        }
    }

    fn of(native: &Native) -> Result<Self, Inactive> {
        check(native.digits())?;
        let engine = native.public_key().ok_or(Inactive::Cpu)?;
        let rows = engine.capabilities().into_iter();
        let paying = rows.filter(|row| {
            let saved = saved(row.spec, row.lanes, engine.break_even(row.spec));
            saved >= PAUSE * u32::try_from(row.lanes).unwrap_or(u32::MAX)
        });
        let paying = paying.map(|row| (row.spec.kind, row.spec.operation));
        Ok(Self {
            paying: paying.collect(),
        })
    }

    /// Whether a program's own job pauses for such an operation. Where the module resumes the job, a
    /// pause costs next to nothing, and what counts is whether the batch is faster
    /// (`KeySession::break_even`).
    pub(crate) fn pay_for_pauses(&self, kind: KeyKind, operation: Operation) -> bool {
        self.paying.contains(&(kind, operation))
    }
}

/// Processor time that a full batch of `lanes` operations saves, at least: it takes no longer than as many
/// by themselves as lanes need to be faster.
pub(crate) fn saved(spec: KeySpec, lanes: usize, break_even: usize) -> Duration {
    let fewer = u32::try_from(lanes.saturating_sub(break_even)).unwrap_or(0);
    time_alone(spec.kind, spec.operation) * fewer
}

/// About what an operation with a secret key takes OpenSSL 3.0, between a Zen 4 and an Emerald Rapids: what
/// waits are measured against, for which the order of magnitude is enough. ML-KEM is never asked for by
/// itself here.
fn time_alone(kind: KeyKind, operation: Operation) -> Duration {
    Duration::from_micros(match (kind, operation) {
        // It grows with the cube of the size.
        (KeyKind::Rsa(bits), Operation::Sign | Operation::Decrypt) => {
            400 * u64::from(bits / 1024).pow(3) / 8
        }
        (KeyKind::Ec(Curve::P256), Operation::Sign) => 20,
        (KeyKind::Ec(Curve::P256), Operation::Derive) => 50,
        (KeyKind::Ec(Curve::P384), Operation::Sign | Operation::Derive) => 750,
        (KeyKind::Ed25519, Operation::Sign) => 50,
        (KeyKind::X25519, Operation::Derive) => 40,
        _ => 0,
    })
}

fn check(digits: Digits) -> Result<(), Inactive> {
    match digits {
        Digits::Ifma | Digits::AvxIfma | Digits::Fma => Ok(()),
        Digits::Plain if Native::digits_of_cpu() > Digits::Plain => Err(Inactive::TierForced),
        Digits::Plain => Err(Inactive::Cpu),
    }
}

/// Whether the CPU has AVX-512 IFMA, whatever the environment asks for.
pub(crate) fn is_ifma() -> bool {
    Native::digits_of_cpu() == Digits::Ifma
}

/// Whether telemetry was told that the system refuses something.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

/// The system has refused what an operation needs to run in lanes. It is tried again at a later one.
#[cold]
pub(crate) fn refused() {
    if !IS_REFUSED.swap(true, Ordering::Relaxed) {
        module::set_inactive(Some(Inactive::NoMemory));
    }
    module::missed();
}

/// What [`refused`] says, until [`granted`].
pub(crate) fn refusal() -> Option<Inactive> {
    IS_REFUSED
        .load(Ordering::Relaxed)
        .then_some(Inactive::NoMemory)
}

/// An operation has what it needs.
pub(crate) fn granted() {
    if IS_REFUSED.load(Ordering::Relaxed) && IS_REFUSED.swap(false, Ordering::Relaxed) {
        module::set_inactive(None);
    }
}

#[cfg(test)]
mod tests {
    use lanelock::public_key::MlKem;
    use lanelock_native::Tier;

    use super::*;

    const KINDS: [KeyKind; 9] = [
        KeyKind::Rsa(2048),
        KeyKind::Rsa(3072),
        KeyKind::Rsa(4096),
        KeyKind::Ec(Curve::P256),
        KeyKind::Ec(Curve::P384),
        KeyKind::Ed25519,
        KeyKind::X25519,
        KeyKind::MlKem(MlKem::MlKem768),
        KeyKind::MlKem(MlKem::MlKem1024),
    ];

    #[test]
    fn keys_with_lanes_are_those_that_the_engine_offers() {
        for tier in Tier::available() {
            let native = Native::with_tier(tier).expect("available");
            let lanes = check(native.digits());
            assert_eq!(lanes.is_err(), native.digits() == Digits::Plain, "{tier:?}");
            let rows = native.public_key().expect("its half").capabilities();
            for kind in KINDS {
                let is_offered = rows.iter().any(|row| row.spec.kind == kind);
                let is_expected = lanes.is_ok() || matches!(kind, KeyKind::MlKem(_));
                assert_eq!(is_offered, is_expected, "{tier:?}: {kind}");
            }
        }
    }

    #[test]
    fn a_programs_own_jobs_pause_for_what_saves_more_than_a_pause_costs() {
        use Operation::{Decrypt, Derive, Sign};
        const P256: KeyKind = KeyKind::Ec(Curve::P256);
        const P384: KeyKind = KeyKind::Ec(Curve::P384);
        for tier in Tier::available() {
            let native = Native::with_tier(tier).expect("available");
            let Ok(lanes) = Lanes::of(&native) else {
                assert_eq!(native.digits(), Digits::Plain, "{tier:?}");
                continue;
            };
            let always = [
                (KeyKind::Rsa(2048), Sign),
                (KeyKind::Rsa(4096), Decrypt),
                (P384, Sign),
                (P384, Derive),
                (KeyKind::Ed25519, Sign),
                (KeyKind::X25519, Derive),
            ];
            for (kind, operation) in always {
                assert!(lanes.pay_for_pauses(kind, operation), "{tier:?}: {kind}");
            }
            for operation in [Sign, Derive] {
                let pays = lanes.pay_for_pauses(P256, operation);
                assert_eq!(pays, native.digits() > Digits::Fma, "{tier:?}");
            }
        }
    }
}
