//! A message whose result is known, in several layouts, right and tampered with.

mod layout;
mod tamper;

use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, QueuePair, Session, SessionError};

use crate::Subject;
use crate::message::{Message, Mismatch, Outcome, Padded, Setup, compare, place, process};
use layout::{LAYOUTS, Layout};

/// A message and its result, from a standard or a test suite.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownAnswer {
    /// The algorithm family.
    pub algorithm: Algorithm,
    /// The cipher's, AEAD's or MAC's key.
    pub key: Vec<u8>,
    /// The key of a chain's MAC.
    pub mac_key: Vec<u8>,
    /// The IV; empty for none.
    pub iv: Vec<u8>,
    /// Additional data.
    pub aad: Vec<u8>,
    /// Authenticated bytes before the payload, for chains.
    pub header: Vec<u8>,
    /// The plaintext, or what is authenticated or hashed.
    pub plaintext: Vec<u8>,
    /// The ciphertext; empty for MACs and hashes.
    pub ciphertext: Vec<u8>,
    /// Authenticated bytes behind the payload, for chains.
    pub trailer: Vec<u8>,
    /// The tag or digest; empty for none.
    pub tag: Vec<u8>,
    /// The customization string.
    pub customization: Vec<u8>,
}

/// What was run for one known answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Runs {
    /// Operations that had to give the known result.
    pub right: u64,
    /// Operations that had to be refused because a bit of the message was flipped.
    pub tampered: u64,
}

/// A message laid out for one session, and what should come of it.
struct Case {
    setup: Setup,
    message: Message,
    outcome: Outcome,
    what: String,
}

impl KnownAnswer {
    /// Nothing but an algorithm.
    #[must_use]
    pub fn empty(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            key: Vec::new(),
            mac_key: Vec::new(),
            iv: Vec::new(),
            aad: Vec::new(),
            header: Vec::new(),
            plaintext: Vec::new(),
            ciphertext: Vec::new(),
            trailer: Vec::new(),
            tag: Vec::new(),
            customization: Vec::new(),
        }
    }

    /// Whether the ciphertext is as long as the plaintext, if there is one.
    #[must_use]
    pub fn lengths_agree(&self) -> bool {
        !self.algorithm.row().encrypts || self.plaintext.len() == self.ciphertext.len()
    }

    /// Runs it on `subject` in each layout and direction, and if `tamper`, with bits flipped.
    ///
    /// # Errors
    /// Whatever the engine said when a session was to be made.
    pub fn check(
        &self,
        subject: &Subject,
        tamper: bool,
    ) -> Result<Result<Runs, Mismatch>, SessionError> {
        let mut cases = Vec::new();
        let mut runs = Runs::default();
        for layout in LAYOUTS {
            for direction in self.directions() {
                cases.push(self.case(layout, direction));
                runs.right += 1;
            }
            if tamper && self.is_authenticated() {
                let tampered = self.tampered(layout);
                runs.tampered += tampered.len() as u64;
                cases.extend(tampered);
            }
        }
        Ok(run(subject, &cases)?.map_or(Ok(runs), Err))
    }

    /// Runs it on `subject` in each layout as a message that does not verify.
    ///
    /// # Errors
    /// Whatever the engine said when the session was to be made.
    pub fn check_refused(&self, subject: &Subject) -> Result<Result<Runs, Mismatch>, SessionError> {
        let cases: Vec<Case> = LAYOUTS
            .map(|layout| {
                let mut case = self.case(layout, Direction::Reverse);
                case.outcome.refused = true;
                case
            })
            .into();
        let runs = Runs {
            right: cases.len() as u64,
            tampered: 0,
        };
        Ok(run(subject, &cases)?.map_or(Ok(runs), Err))
    }

    /// The session for one direction.
    #[must_use]
    pub fn setup(&self, direction: Direction) -> Setup {
        Setup {
            algorithm: self.algorithm,
            direction,
            key: self.key.clone(),
            mac_key: self.mac_key.clone(),
            iv_len: self.iv.len(),
            tag_len: self.tag.len(),
            customization: self.customization.clone(),
        }
    }

    fn directions(&self) -> impl Iterator<Item = Direction> {
        let hash = matches!(self.algorithm, Algorithm::Hash(_));
        [Direction::Forward, Direction::Reverse]
            .into_iter()
            .take(if hash { 1 } else { 2 })
    }

    fn is_authenticated(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Cipher(_) | Algorithm::Hash(_))
    }

    fn case(&self, layout: Layout, direction: Direction) -> Case {
        let setup = self.setup(direction);
        let message = self.message(&setup, layout);
        let (outcome, verb) = match direction {
            Direction::Forward => (&self.ciphertext, "protect"),
            Direction::Reverse => (&self.plaintext, "undo"),
        };
        let payload = if setup.ciphers() {
            outcome.clone()
        } else {
            Vec::new()
        };
        Case {
            setup,
            message,
            outcome: Outcome {
                payload,
                tag: self.tag.clone(),
                refused: false,
            },
            what: format!("{verb}, {}", layout.name),
        }
    }
}

/// Runs the cases in one burst; the first that went wrong.
fn run(subject: &Subject, cases: &[Case]) -> Result<Option<Mismatch>, SessionError> {
    let mut sessions: Vec<(&Setup, Session)> = Vec::new();
    for case in cases {
        if !sessions.iter().any(|(setup, _)| *setup == &case.setup) {
            sessions.push((&case.setup, subject.session(&case.setup)?));
        }
    }
    let session = |case: &Case| {
        let found = sessions.iter().find(|(setup, _)| *setup == &case.setup);
        &found.expect("made above").1
    };
    let burst: Vec<_> = cases.iter().map(|c| (session(c), &c.message)).collect();
    let mut queue: QueuePair<Padded> = subject.device().queue_pair_of(1);
    let observed = process(&mut queue, &burst);
    Ok(cases.iter().zip(observed).find_map(|(case, observed)| {
        let expected = place(&case.setup, &case.message, case.outcome.clone());
        let mut mismatch = compare(&case.message, &expected, &observed)?;
        mismatch.what = format!("{}: {}", case.what, mismatch.what);
        Some(mismatch)
    }))
}
