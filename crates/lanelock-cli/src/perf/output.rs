//! Where results go: the table on standard output, and files.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::failure::Failure;
use crate::report::json::{self, Schema};
use crate::report::{csv, html};
use crate::row::Report;
use crate::terminal::{print, save};

/// Forms other than the table.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Write the results as JSON; - writes them to standard output, instead of the table.
    ///
    /// One object: `machine`, the `command` that repeats it, and `results`, a row for each
    /// contestant in each cell. Every row has algorithm, operation, contestant (an engine, peer or
    /// baseline), size (in bytes; the mean of a mix), burst, sessions, threads, ops_per_s,
    /// gbit_per_s and ns_per_op (of one thread), and others where they have a value. These names
    /// and units do not change.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<Target>,

    /// Write the results as CSV; - writes them to standard output, instead of the table.
    #[arg(long, value_name = "FILE|-")]
    pub csv: Option<Target>,

    /// Write a page with charts.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// A file or standard output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// `-`.
    Stdout,
    /// Anything else.
    File(PathBuf),
}

impl Output {
    /// Checks the options before anything is measured.
    ///
    /// # Errors
    /// [`Failure::Usage`] if two forms would share standard output.
    pub fn check(&self) -> Result<(), Failure> {
        if self.json == Some(Target::Stdout) && self.csv == Some(Target::Stdout) {
            return Err(Failure::Usage(
                "--json - and --csv -: both would go to standard output; name a file for one"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether standard output is for the table.
    pub fn shows_table(&self) -> bool {
        [&self.json, &self.csv]
            .into_iter()
            .flatten()
            .all(|target| *target != Target::Stdout)
    }

    /// Writes every form that was asked for.
    ///
    /// # Errors
    /// [`Failure::Output`] if one cannot be written.
    pub fn write(&self, report: &Report) -> Result<(), Failure> {
        if let Some(target) = &self.json {
            target.write(&json::render(Schema::Perf, report))?;
        }
        if let Some(target) = &self.csv {
            target.write(&csv::render(report))?;
        }
        match &self.html {
            Some(path) => save(path, &html::render(report)),
            None => Ok(()),
        }
    }
}

impl Target {
    /// Writes `text`.
    ///
    /// # Errors
    /// [`Failure::Output`].
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout => print(text),
            Self::File(path) => save(path, text),
        }
    }
}

impl FromStr for Target {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "-" => Self::Stdout,
            path => Self::File(path.into()),
        })
    }
}
