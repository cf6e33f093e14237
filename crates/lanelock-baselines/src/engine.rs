//! A habit as an engine: it takes the same sessions, messages and bursts as any other.

use std::fmt;

use lanelock_core::algorithm::{Aead, Algorithm, Cipher, Hash, Mac};
use lanelock_core::engine::{
    Batch, Capability, Engine, EngineSession, Features, PerQueue, QueueToken, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_core::{SessionError, Status, Transform};

use crate::contexts::{Contexts, Counting, Recipe};
use crate::ffi::Failed;

/// What is done for each operation that could be done once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Habit {
    /// The session's contexts are duplicated, used and freed.
    ClonePerOp,
    /// The algorithm is looked up by name and the key set with it.
    FetchPerOp,
    /// 3DES-CTR: the key is set, and each counter block encrypted by a call of its own.
    RekeyPerOp,
    /// Padding is turned off before the message and after it.
    PaddingPerOp,
}

/// An engine that has a habit.
#[derive(Debug)]
pub struct Baseline {
    habit: Habit,
    capabilities: Vec<Capability>,
}

struct BaselineSession {
    habit: Habit,
    recipe: Recipe,
    keyed: Contexts,
    kept: PerQueue<Contexts>,
}

impl Habit {
    /// Every habit.
    pub const ALL: [Self; 4] = [
        Self::ClonePerOp,
        Self::FetchPerOp,
        Self::RekeyPerOp,
        Self::PaddingPerOp,
    ];

    /// Its name, which is the engine's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClonePerOp => "clone-per-op",
            Self::FetchPerOp => "fetch-per-op",
            Self::RekeyPerOp => "rekey-per-op",
            Self::PaddingPerOp => "padding-per-op",
        }
    }
}

impl fmt::Display for Habit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Baseline {
    /// The engine with this habit, over the process's default OpenSSL context.
    #[must_use]
    pub fn new(habit: Habit) -> Self {
        let chains = Features {
            chains: true,
            ..Features::default()
        };
        let families = [
            Algorithm::Cipher(Cipher::AesCbc),
            Algorithm::Cipher(Cipher::TripleDesCtr),
            Algorithm::Mac(Mac::Hmac(Hash::Sha1)),
            Algorithm::Mac(Mac::Hmac(Hash::Sha256)),
            Algorithm::Mac(Mac::Hmac(Hash::Sha512)),
            Algorithm::Mac(Mac::AesCmac),
            Algorithm::Aead(Aead::AesGcm),
        ];
        Self {
            habit,
            capabilities: families
                .into_iter()
                .map(|family| Capability::standard(family, chains))
                .collect(),
        }
    }
}

impl Engine for Baseline {
    fn name(&self) -> &'static str {
        self.habit.name()
    }

    fn version(&self) -> String {
        "a baseline for benchmarks".to_owned()
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        let unsupported = |why: &str| SessionError::Unsupported {
            what: transform.spec(),
            why: why.to_owned(),
        };
        if transform.direction() == Direction::Reverse {
            return Err(unsupported("baselines protect messages only"));
        }
        let recipe = Recipe::of(transform)?;
        match self.habit {
            Habit::RekeyPerOp if !recipe.counts() => return Err(unsupported("only for 3DES-CTR")),
            Habit::PaddingPerOp if !recipe.pads() => return Err(unsupported("it has no padding")),
            _ => {}
        }
        let keyed = Contexts::make(&recipe).map_err(|Failed| SessionError::Engine {
            engine: self.name(),
            why: "no keyed context".to_owned(),
        })?;
        Ok(Box::new(BaselineSession {
            habit: self.habit,
            recipe,
            keyed,
            kept: PerQueue::new(),
        }))
    }
}

impl EngineSession for BaselineSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each(|mut op| {
            let status = match op.session::<Self>() {
                Some(session) => session.one(queue, &mut op),
                None => Err(Failed),
            };
            op.complete(status.map_or(Status::EngineError, |()| Status::Success));
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

impl BaselineSession {
    fn one(&self, queue: &mut QueueToken, op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
        let recipe = &self.recipe;
        if self.habit == Habit::ClonePerOp {
            return self.keyed.dup()?.run(recipe, Counting::Together, op);
        }
        let kept = self.kept.get_or_try_make(queue, || self.keyed.dup())?;
        match self.habit {
            Habit::ClonePerOp => Ok(()),
            Habit::FetchPerOp => {
                kept.fetch_again(recipe)?;
                kept.run(recipe, Counting::Together, op)
            }
            Habit::RekeyPerOp => {
                kept.rekey(recipe)?;
                kept.run(recipe, Counting::OneByOne, op)
            }
            Habit::PaddingPerOp => {
                kept.restart()?;
                kept.padding_off()?;
                kept.run(recipe, Counting::Together, op)?;
                kept.padding_off()
            }
        }
    }
}
