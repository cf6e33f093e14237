//! A session's second engine, for the groups that it was measured to run faster.
//!
//! A session that names no engine runs on the first of its device that offers its transform. If
//! that engine [is contested](crate::engine::Engine::is_contested), the next one that offers it
//! stands in wherever it proves faster: by the number of operations in a group, all of one session,
//! and by their length.

mod costs;

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::{Batch, EngineSession, Wiped};
use crate::transform::Transform;
use costs::{Cell, Costs, Side};

/// The session on its second engine, and what is known of both.
pub(crate) struct StandIn {
    pub(crate) engine: Box<Wiped<dyn EngineSession>>,
    /// Invariant: of what is in `engine`; not that of the session's first engine.
    pub(crate) engine_type: TypeId,
    name: &'static str,
    /// The engine's place on the device.
    index: usize,
    costs: Arc<Costs>,
}

/// How a group runs.
pub(crate) struct Turn {
    side: Side,
    /// The cell it counts for, and since when.
    timed: Option<(Cell, Instant)>,
}

/// What groups of one kind were measured to cost on a session's two engines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Measured {
    /// Most operations of such a group; `None` without a bound.
    pub most_ops: Option<usize>,
    /// Most bytes of their messages; `None` without a bound.
    pub most_bytes: Option<u32>,
    /// Mean time of a group on the first engine.
    pub primary: Duration,
    /// Mean time of a group on the other one.
    pub stand_in: Duration,
    /// The engine that runs them.
    pub chosen: &'static str,
}

impl StandIn {
    /// `engine` beside the session's `primary`; `None` if the two could not be told apart.
    pub(crate) fn new(
        transform: &Transform,
        primary: (&'static str, &dyn EngineSession),
        (name, index): (&'static str, usize),
        engine: Box<Wiped<dyn EngineSession>>,
    ) -> Option<Self> {
        let engine_type = Any::type_id(&**engine);
        let subject = (primary.0, name, transform.spec(), transform.direction());
        (engine_type != Any::type_id(primary.1)).then(|| Self {
            engine_type,
            engine,
            name,
            index,
            costs: Costs::of(subject),
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// How `batch` runs; `None` on the primary, with nothing to learn.
    #[inline]
    pub(crate) fn turn(&self, batch: &Batch<'_, '_>) -> Option<Turn> {
        let cell = Cell::of(batch.len(), batch.first_len());
        if self.costs.is_settled_for_primary(cell) {
            return None;
        }
        self.take_turn(cell, batch)
    }

    #[cold]
    fn take_turn(&self, cell: Cell, batch: &Batch<'_, '_>) -> Option<Turn> {
        let of_cell = |bytes| Cell::of(batch.len(), bytes) == cell;
        if !batch.is_of_one_session(of_cell) {
            return None;
        }
        let (side, is_timed) = self.costs.choose(cell);
        Some(Turn {
            side,
            timed: is_timed.then(|| (cell, Instant::now())),
        })
    }

    /// The group of `turn` has run.
    pub(crate) fn ran(&self, turn: &Turn) {
        if let Some((cell, start)) = turn.timed {
            self.costs.record(cell, turn.side, start.elapsed());
        }
    }

    pub(crate) fn measured(&self, primary: &'static str) -> Vec<Measured> {
        let of_cell = |(cell, [on_primary, stand_in], side): (Cell, [Duration; 2], Side)| {
            let (most_ops, most_bytes) = cell.most();
            Measured {
                most_ops,
                most_bytes,
                primary: on_primary,
                stand_in,
                chosen: match side {
                    Side::Primary => primary,
                    Side::StandIn => self.name,
                },
            }
        };
        self.costs.settled().into_iter().map(of_cell).collect()
    }
}

impl Turn {
    pub(crate) fn is_stand_in(&self) -> bool {
        self.side == Side::StandIn
    }
}
