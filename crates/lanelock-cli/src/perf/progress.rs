//! A bar on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::say;

/// How far the measurements are.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Of `steps` equal steps.
    pub fn of(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {eta:>4} left  {msg}");
        bar.set_style(style.expect("the template is constant"));
        bar.enable_steady_tick(Duration::from_millis(500));
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
