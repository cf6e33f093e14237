//! Lines of Prometheus' text format.

use std::fmt::{Display, Write};

/// The text, and the family that samples belong to.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    /// All of it.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Begins a family; the samples that follow are its.
    pub(super) fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        // Writing to a string succeeds, here and below.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample with these labels, `name="value",…`, or none.
    pub(super) fn sample(&mut self, suffix: &str, labels: &str, value: impl Display) {
        let labels = match labels {
            "" => String::new(),
            labels => format!("{{{labels}}}"),
        };
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.family);
    }

    /// A bucket of a histogram.
    pub(super) fn bucket(&mut self, labels: &str, bound: &str, count: u64) {
        self.sample("_bucket", &format!("{labels},le=\"{bound}\""), count);
    }

    /// A histogram's last bucket, its sum and its count.
    pub(super) fn closing(&mut self, labels: &str, sum: &str, count: u64) {
        self.bucket(labels, "+Inf", count);
        self.sample("_sum", labels, sum);
        self.sample("_count", labels, count);
    }
}

/// The value of a label; control characters are gone already.
pub(super) fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_quoted() {
        assert_eq!(quoted("haproxy"), "haproxy");
        assert_eq!(quoted("\"x\\xe9"), "\\\"x\\\\xe9");
    }
}
