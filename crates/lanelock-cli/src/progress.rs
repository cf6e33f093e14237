//! A bar on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lanelock_conformance::Progress as Parts;

use crate::terminal::say;

/// How far measurements or checks are.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Of `steps` equal steps.
    pub fn of(steps: usize) -> Self {
        Self::new(steps as u64, "{bar:30} {percent:>3}%  {eta:>4} left  {msg}")
    }

    /// Of `cells`, of which `done` took no time: the time left is judged by the others.
    pub fn of_cells(cells: usize, done: usize) -> Self {
        let progress = Self::of(cells);
        progress.0.set_position(done as u64);
        progress.0.reset_eta();
        progress
    }

    /// For one part after the other, each of which begins it anew.
    pub fn of_parts() -> Self {
        Self::new(
            0,
            "{prefix:>12} {bar:30} {percent:>3}%  {eta:>4} left  {msg}",
        )
    }

    fn new(steps: u64, template: &str) -> Self {
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.expect("the template is constant"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Says what is being done.
    pub fn say(&self, what: String) {
        self.0.set_message(what);
    }

    /// One step further.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Writes a line for the user above the bar.
    pub fn note(&self, text: &str) {
        self.0.suspend(|| say(text));
    }
}

impl Parts for Progress {
    fn begin(&self, what: &str, total: u64) {
        self.0.reset();
        self.0.set_length(total);
        self.0.set_prefix(what.to_owned());
    }

    fn advance(&self, steps: u64, what: &str) {
        self.0.inc(steps);
        if self.0.message() != what {
            self.0.set_message(what.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
