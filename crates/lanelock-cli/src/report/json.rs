//! JSON: every object that the command prints begins with the name and version of its schema.

use serde::Serialize;

/// What a document holds. A name, once released, keeps its meaning and its unit; names may be added.
/// Where that cannot be kept, the version of the schema rises.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// `check --timing`: [`crate::check`].
    CheckTiming,
    /// `engines`: [`crate::engines`].
    Engines,
    /// Measurements of all kinds, and `tour`: [`crate::row::Report`].
    Perf,
    /// `perf sweep`: [`crate::sweep::Sweep`].
    PerfSweep,
    /// `perf tls` with a number of handshakes.
    PerfTls,
    /// `stats PID`: the page of a process.
    Stats,
    /// `stats` and `stats --all`: the processes that have a page.
    StatsProcesses,
    /// `trace`: [`crate::trace::Breakdown`].
    Trace,
}

impl Schema {
    /// Name and version.
    fn id(self) -> &'static str {
        match self {
            Self::CheckTiming => "lanelock-check-timing/1",
            Self::Engines => "lanelock-engines/1",
            Self::Perf => "lanelock-perf/1",
            Self::PerfSweep => "lanelock-perf-sweep/1",
            Self::PerfTls => "lanelock-perf-tls/1",
            Self::Stats => "lanelock-stats/1",
            Self::StatsProcesses => "lanelock-stats-processes/1",
            Self::Trace => "lanelock-trace/1",
        }
    }
}

#[derive(Serialize)]
struct Document<'c, T> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'c T,
}

/// The document of an object, ending in a newline.
pub fn render<T: Serialize>(schema: Schema, content: &T) -> String {
    let schema = schema.id();
    let document = Document { schema, content };
    let mut text = serde_json::to_string_pretty(&document).expect("an object with string keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_begins_with_its_schema() {
        let report = crate::row::Report {
            machine: crate::machine::Machine::default(),
            command: "lanelock perf".to_owned(),
            results: Vec::new(),
        };
        let text = render(Schema::Perf, &report);
        assert!(
            text.starts_with("{\n  \"schema\": \"lanelock-perf/1\",\n  \"machine\": {"),
            "{text}"
        );
        assert!(text.ends_with("]\n}\n"), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).expect("its own");
        assert_eq!(read["command"], *report.command);
    }
}
