//! The native half of the Python package `lanelock`: columns in Arrow's memory through lanelock's
//! lanes. What Python sees is in `python/lanelock`, with types in `_lanelock.pyi`.

#![deny(unsafe_code)]

mod aead;
mod arrow;
mod buffer;
mod burst;
mod call;
mod cbc;
mod column;
mod digest;
mod encoding;
mod engine;
mod failure;
mod jwe;
mod keys;
mod mac;
mod nonces;
mod offsets;
mod output;
mod prefetch;
mod run;
mod scheme;
mod seal;
mod types;
mod unit;
mod work;

/// Columns encrypted, decrypted, authenticated and hashed.
#[pyo3::pymodule]
mod _lanelock {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::aead::Aead;
    #[pymodule_export]
    use crate::digest::{Hash, Mac};
    #[pymodule_export]
    use crate::failure::{NonceWarning, RowError};
    #[pymodule_export]
    use crate::output::Output;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
