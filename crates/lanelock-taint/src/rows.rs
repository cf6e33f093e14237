//! Everything that is checked: an algorithm is one row.

mod engine;
mod kernels;
mod ml_kem;
mod public_key;

use crate::inputs::Inputs;
use crate::tier::Tier;

/// Something computed from secrets.
pub struct Row {
    /// The name in the table.
    pub name: String,
    /// The tiers that have a kernel for it.
    pub tiers: &'static [Tier],
    /// Runs it on one of them and returns what it wrote: secret, and alike on each tier. Branches
    /// on none of it.
    pub run: Run,
}

type Run = Box<dyn Fn(Tier, &mut Inputs) -> Vec<Vec<u8>>>;

/// Every row.
pub fn all() -> Vec<Row> {
    [
        kernels::rows(),
        engine::rows(),
        public_key::rows(),
        ml_kem::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Row {
    fn new(
        name: impl Into<String>,
        tiers: &'static [Tier],
        run: impl Fn(Tier, &mut Inputs) -> Vec<Vec<u8>> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            tiers,
            run: Box::new(run),
        }
    }
}
