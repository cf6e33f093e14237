//! The check's progress, as a bar on standard error if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lanelock_conformance::Progress;

/// One bar, used for one part after the other.
#[derive(Debug)]
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template(
            "{prefix:>12} {bar:30} {percent:>3}%  {eta:>4} left  {msg}",
        );
        bar.set_style(style.expect("the template is constant"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }
}

impl Progress for Bar {
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

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
