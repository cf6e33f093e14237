//! What every method on a column has in common: its arguments, threads, progress, errors.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::column::Column;
use crate::failure::row_error;
use crate::keys::Numbers;
use crate::output::Output;
use crate::run::{Aad, Inputs, Plan, run};
use crate::types::Type;
use crate::work::Work;

/// The arguments, read before anything runs.
pub(crate) struct Call {
    pub(crate) column: Column,
    pub(crate) aad: AadArgument,
    pub(crate) keys: Option<Column>,
    pub(crate) nonces: Option<Column>,
    pub(crate) raise: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
}

pub(crate) enum AadArgument {
    Same(Vec<u8>),
    Rows(Column),
}

impl Call {
    pub(crate) fn new(
        column: &Bound<'_, PyAny>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
        on_error: &str,
    ) -> PyResult<Self> {
        let raise = match on_error {
            "raise" => true,
            "null" => false,
            other => {
                return Err(PyValueError::new_err(format!(
                    "on_error={other:?}; allowed: \"raise\", \"null\""
                )));
            }
        };
        let threads = match threads {
            Some(0) => return Err(PyValueError::new_err("threads=0; allowed: 1 or more")),
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let column = Column::new(column, "column")?;
        let progress = match progress {
            Some(progress) if progress.is_truthy()? => {
                let py = progress.py();
                let reporter = py.import("lanelock._progress")?.getattr("reporter")?;
                Some(reporter.call1((progress, column.len()))?.unbind())
            }
            _ => None,
        };
        Ok(Self {
            column,
            aad: AadArgument::Same(Vec::new()),
            keys: None,
            nonces: None,
            raise,
            threads,
            progress,
        })
    }

    /// Additional data: `None`, bytes for all rows, or a column.
    pub(crate) fn aad(mut self, aad: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if let Some(aad) = aad {
            self.aad = match aad.extract::<Vec<u8>>() {
                Ok(same) if !aad.is_instance_of::<pyo3::types::PyList>() => AadArgument::Same(same),
                _ => {
                    let rows = Column::new(aad, "aad")?;
                    self.as_long(&rows, "aad")?;
                    AadArgument::Rows(rows)
                }
            };
        }
        Ok(self)
    }

    /// A column of key numbers.
    pub(crate) fn keys(
        mut self,
        keys: Option<&Bound<'_, PyAny>>,
        numbers: &Numbers,
        needed: bool,
    ) -> PyResult<Self> {
        match keys {
            Some(keys) => {
                if numbers.is_empty() {
                    return Err(PyValueError::new_err(
                        "keys: key numbers were given, but the key has none: make it of a mapping \
                         from numbers to keys",
                    ));
                }
                let keys = Column::new(keys, "keys")?;
                self.as_long(&keys, "keys")?;
                if !matches!(&keys.ty, Type::Fixed { format, .. } if "cCsSiIlL".contains(format.as_str()))
                {
                    return Err(PyValueError::new_err(format!(
                        "keys has the Arrow format {:?}; allowed: integers",
                        keys.ty.format()
                    )));
                }
                self.keys = Some(keys);
            }
            None if needed => {
                return Err(PyValueError::new_err(
                    "keys: there are several keys; pass a column of the number of each row's key",
                ));
            }
            None => {}
        }
        Ok(self)
    }

    /// `"random"`, or a column of nonces.
    pub(crate) fn nonces(mut self, nonce: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if let Some(nonce) = nonce {
            let nonces = Column::new(nonce, "nonce")?;
            self.as_long(&nonces, "nonce")?;
            self.nonces = Some(nonces);
        }
        Ok(self)
    }

    pub(crate) fn as_long(&self, other: &Column, what: &str) -> PyResult<()> {
        if other.len() == self.column.len() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{what} has {} rows, the column {}",
            other.len(),
            self.column.len()
        )))
    }

    /// Runs `work`, without the GIL, and gives the results the type `ty`.
    pub(crate) fn run<W: Work>(
        &self,
        py: Python<'_>,
        work: &W,
        numbers: &Numbers,
        ty: &Type,
    ) -> PyResult<Output> {
        let inputs = Inputs {
            column: &self.column,
            aad: match &self.aad {
                AadArgument::Same(aad) => Aad::Same(aad),
                AadArgument::Rows(rows) => Aad::Rows(rows),
            },
            keys: self.keys.as_ref(),
            nonces: self.nonces.as_ref(),
            numbers,
        };
        let progress = &self.progress;
        let output = py.detach(|| {
            let mut poll = |rows: usize| {
                Python::attach(|py| {
                    py.check_signals()?;
                    match progress {
                        Some(progress) => progress.call1(py, (rows,)).map(drop),
                        None => Ok(()),
                    }
                })
            };
            let mut plan = Plan {
                threads: self.threads,
                large: ty.is_large(),
                width: ty.width(),
                poll: &mut poll,
            };
            let values = run(work, &inputs, &mut plan)?;
            PyResult::Ok(Output::new(ty, &self.column, values))
        })?;
        if let Some(progress) = progress {
            progress.call_method0(py, "close")?;
        }
        match output.first_failure() {
            Some((row, reason, failed)) if self.raise => Err(row_error(py, row, reason, failed)),
            _ => Ok(output),
        }
    }
}
