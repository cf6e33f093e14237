//! How a long run tells where it is.

/// Is told about the progress of a run, from several threads.
pub trait Progress: Sync {
    /// A part called `what` begins; it has `total` steps.
    fn begin(&self, what: &str, total: u64) {
        let _ = (what, total);
    }

    /// `steps` more are done, the last of them on `what`.
    fn advance(&self, steps: u64, what: &str) {
        let _ = (steps, what);
    }

    /// The part is over.
    fn end(&self) {}
}

/// Nobody listens.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {}
