//! Key pairs that are generated ahead: by a thread for its jobs, and by a process for its threads.
//!
//! A generation takes nothing from its caller, so nobody has to wait for others to fill a batch:
//! whoever needs a pair and finds none generates as many as there are lanes, and the next ones take
//! the rest. Each is handed out once and wiped here.
//!
//! Secrets wait in memory that the kernel wipes in every child process ([`Unshared`]). No more than
//! that can be done about copies of the whole machine: the kernel renews its own random numbers when a
//! virtual machine goes on from a snapshot (VMGENID), and has no interface that tells programs of it.
//! A copy that is made within the lifetime of a pair can hand out the same one.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use lanelock::public_key::{Curve, KeyDevice, KeyKind, KeyOp, KeySession, KeyTransform, MlKem};
use zeroize::{Zeroize, Zeroizing};

use crate::batch::{self, Bytes, device};
use crate::direct;
use crate::lasting::Lasting;
use crate::memory::Unshared;

/// How long a pair is kept: what somebody reads in the memory of an idle thread is used by nobody.
const LIFETIME: Duration = Duration::from_secs(1);

/// What there are spares of.
const KINDS: [KeyKind; 5] = [
    KeyKind::X25519,
    KeyKind::Ec(Curve::P256),
    KeyKind::Ec(Curve::P384),
    KeyKind::MlKem(MlKem::MlKem768),
    KeyKind::MlKem(MlKem::MlKem1024),
];

/// A generated pair, in the forms of [`KeyOp::generate`].
pub(crate) struct Pair {
    pub kind: KeyKind,
    pub secret: Bytes,
    pub public: Vec<u8>,
}

/// The pairs that are left of each kind.
#[derive(Default)]
pub(crate) struct Spares([Store; KINDS.len()]);

/// The pairs of one kind.
#[derive(Default)]
struct Store {
    secrets: Option<Unshared>,
    publics: Vec<u8>,
    /// Pairs that are left, which are the first.
    left: usize,
    generated: Option<Instant>,
}

thread_local! {
    /// A thread's, with the process that they are of.
    static SPARES: RefCell<Option<(u32, Spares)>> = const { RefCell::new(None) };
}

/// A pair of the thread's that nobody else has; `None` if there are no lanes for it, and when the
/// thread ends.
pub(crate) fn take(kind: KeyKind) -> Option<Pair> {
    let taken = SPARES.try_with(|spares| {
        let mut spares = spares.try_borrow_mut().ok()?;
        let process = batch::generation()?;
        if spares.as_ref().is_none_or(|(of, _)| *of != process) {
            *spares = Some((process, Spares::default()));
        }
        let (_, spares) = spares.as_mut()?;
        spares.take(kind, direct::process)
    });
    taken.ok().flatten()
}

impl Spares {
    /// A pair that nobody else has; `None` if there are no lanes for it. `process` runs operations, and
    /// says whether all succeeded.
    pub(crate) fn take(
        &mut self,
        kind: KeyKind,
        process: impl FnOnce(&mut [KeyOp<'_>]) -> bool,
    ) -> Option<Pair> {
        let place = KINDS.iter().position(|&known| known == kind)?;
        let taken = self.0[place].take(session(place)?, Instant::now(), process);
        taken.map(|(secret, public)| Pair {
            kind,
            secret,
            public,
        })
    }
}

/// The session that generates pairs of the kind at `place`; `None` if there are no lanes for it.
fn session(place: usize) -> Option<&'static KeySession> {
    static SESSIONS: [Lasting<KeySession>; KINDS.len()] = [const { Lasting::new() }; KINDS.len()];
    SESSIONS[place].get(|| {
        let transform = KeyTransform::generate(KINDS[place]);
        batch::on_large_stack(|| device()?.key_session_on("native", &transform).ok())?
    })
}

impl Store {
    fn take(
        &mut self,
        session: &KeySession,
        now: Instant,
        process: impl FnOnce(&mut [KeyOp<'_>]) -> bool,
    ) -> Option<(Bytes, Vec<u8>)> {
        let is_fresh = |at: Instant| now.saturating_duration_since(at) < LIFETIME;
        if self.left == 0 || !self.generated.is_some_and(is_fresh) {
            self.fill(session, process)?;
            self.generated = Some(now);
        }
        self.left -= 1;
        let (len, public_len) = (session.output_len(0), session.second_output_len());
        let secrets = self.secrets.as_mut()?.as_mut_slice();
        let secret = &mut secrets[self.left * len..][..len];
        let taken = Zeroizing::new(secret.to_vec());
        secret.zeroize();
        let public = &self.publics[self.left * public_len..][..public_len];
        Some((taken, public.to_vec()))
    }

    /// Replaces all pairs by as many as there are lanes; `None`, and none left, if that fails.
    fn fill(
        &mut self,
        session: &KeySession,
        process: impl FnOnce(&mut [KeyOp<'_>]) -> bool,
    ) -> Option<()> {
        let (len, public_len) = (session.output_len(0), session.second_output_len());
        let count = session.lanes();
        self.left = 0;
        if self.secrets.is_none() {
            self.secrets = Unshared::new(count * len);
        }
        self.publics.resize(count * public_len, 0);
        let secrets = self.secrets.as_mut()?.as_mut_slice();
        let secrets = secrets.chunks_exact_mut(len);
        let publics = self.publics.chunks_exact_mut(public_len);
        let ops = secrets
            .zip(publics)
            .map(|(secret, public)| KeyOp::generate(session, secret, public));
        let mut ops: Vec<KeyOp<'_>> = ops.collect();
        process(&mut ops).then_some(())?;
        self.left = count;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_handed_out_once_wiped_and_not_kept_for_long() {
        let Some(session) = session(0) else { return };
        let (mut store, start) = (Store::default(), Instant::now());
        let mut seen = Vec::new();
        for _ in 0..2 * session.lanes() + 1 {
            let taken = store.take(session, start, direct::process);
            let (secret, _) = taken.expect("a pair");
            assert!(!seen.contains(&secret), "a new key each time");
            seen.push(secret);
        }
        assert_eq!(store.left, session.lanes() - 1);
        let secrets = |store: &Store| store.secrets.as_ref().expect("memory").as_slice().to_vec();
        assert!(
            secrets(&store).ends_with(&[0; 32]),
            "what was handed out is wiped"
        );
        let kept: Vec<u8> = secrets(&store)[..32 * store.left].to_vec();
        let late = start + LIFETIME;
        let taken = store.take(session, late, direct::process);
        let (secret, _) = taken.expect("a pair");
        assert_eq!(store.left, session.lanes() - 1);
        for old in kept.chunks(32) {
            assert!(old != &secret[..] && secrets(&store).chunks(32).all(|new| new != old));
        }
    }

    #[test]
    fn there_are_no_spares_of_what_has_no_lanes() {
        assert!(take(KeyKind::Rsa(2048)).is_none() && take(KeyKind::Ec(Curve::P521)).is_none());
    }
}
