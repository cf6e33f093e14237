//! Single handshakes on a time line: calls, pauses, waits.

use std::collections::HashMap;

use maud::{Markup, html};

use super::bar_chart::{Bar, BarChart, Group, Piece};
use crate::figures::float;
use crate::trace::Event;

/// What a handshake does for a while; the number is its colour.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Does {
    Call = 0,
    Pause = 2,
    Wait = 7,
}

#[derive(Clone, Debug)]
struct Span {
    does: Does,
    /// Microseconds from the handshake's start.
    from: u64,
    to: u64,
}

#[derive(Clone, Debug, Default)]
struct Handshake {
    started_us: u64,
    name: String,
    spans: Vec<Span>,
    /// What the last call said, once there is one.
    last: Option<(u64, String)>,
}

/// Handshakes drawn.
const ROWS: usize = 60;

/// The chart of the first handshakes that ended; none if none did.
pub(super) fn render(events: &[Event]) -> Option<Markup> {
    let rows = handshakes(events);
    let legend = [
        ("call", Does::Call),
        ("paused for an operation", Does::Pause),
        ("waiting for the peer", Does::Wait),
    ];
    let chart = BarChart {
        title: format!("The first {}", rows.len()),
        unit: "µs",
        legend: legend
            .map(|(name, does)| (name.to_owned(), does as usize))
            .to_vec(),
        groups: rows.iter().map(Handshake::group).collect(),
    };
    (!rows.is_empty()).then(|| html! { div.wide { (chart.render()) } })
}

impl Handshake {
    fn group(&self) -> Group {
        let piece = |span: &Span| Piece {
            colour: span.does as usize,
            from: float(span.from),
            to: float(span.to),
            thin: span.does == Does::Wait,
            title: format!("{:?}, {} µs", span.does, span.to - span.from),
        };
        let said = self.last.as_ref().map(|(_, said)| said.clone());
        Group {
            name: format!("{} at {:.3} s", self.name, float(self.started_us) / 1e6),
            bars: vec![Bar {
                pieces: self.spans.iter().map(piece).collect(),
                said: said.unwrap_or_default(),
            }],
        }
    }

    /// Takes in a call that ended; the time since the last one was a pause or a wait.
    fn call(&mut self, event: &Event) {
        let ended = event.time_us;
        let began = ended - event.latency_us.unwrap_or(0).min(ended);
        match &self.last {
            None => {
                self.started_us = began;
                self.name = format!("{} {}", event.comm, event.pid);
            }
            Some((until, said)) => {
                let does = match said.as_str() {
                    "later: paused" => Does::Pause,
                    _ => Does::Wait,
                };
                self.span(does, *until, began.max(*until));
            }
        }
        self.span(Does::Call, began, ended);
        self.last = Some((ended, event.result.clone()));
    }

    fn span(&mut self, does: Does, from: u64, to: u64) {
        let since = |time: u64| time.saturating_sub(self.started_us);
        let (from, to) = (since(from), since(to));
        self.spans.push(Span { does, from, to });
    }
}

/// The first handshakes that ended, each from its first call on.
fn handshakes(events: &[Event]) -> Vec<Handshake> {
    let mut open: HashMap<(u32, &str), Handshake> = HashMap::new();
    let mut ended = Vec::new();
    for event in events.iter().filter(|event| event.what == "handshake") {
        let key = (event.pid, event.subject.as_str());
        open.entry(key).or_default().call(event);
        if !event.result.starts_with("later") {
            ended.extend(open.remove(&key));
        }
        if ended.len() == ROWS {
            break;
        }
    }
    ended.sort_by_key(|handshake| handshake.started_us);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_us: u64, subject: &str, latency_us: u64, result: &str) -> Event {
        Event {
            time_us,
            pid: 1,
            tid: 1,
            comm: "server".to_owned(),
            subject: subject.to_owned(),
            what: "handshake".to_owned(),
            latency_us: Some(latency_us),
            result: result.to_owned(),
        }
    }

    #[test]
    fn a_handshake_is_put_together_from_its_calls() {
        let events = [
            event(1100, "a", 100, "later: paused"),
            event(1150, "b", 20, "later: read"),
            event(1500, "a", 50, "later: read"),
            event(1900, "a", 100, "done"),
        ];
        let rows = handshakes(&events);
        assert_eq!(rows.len(), 1, "b has not ended");
        assert_eq!(rows[0].started_us, 1000);
        let spans: Vec<_> = rows[0]
            .spans
            .iter()
            .map(|s| (s.does, s.from, s.to))
            .collect();
        let expected = [
            (Does::Call, 0, 100),
            (Does::Pause, 100, 450),
            (Does::Call, 450, 500),
            (Does::Wait, 500, 800),
            (Does::Call, 800, 900),
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn an_address_that_is_used_again_is_another_handshake() {
        let events = [event(100, "a", 10, "done"), event(300, "a", 10, "failed")];
        let rows = handshakes(&events);
        let ends: Vec<_> = rows.iter().map(|row| row.spans[0].to).collect();
        assert_eq!(ends, [10, 10]);
        assert!(render(&events).is_some() && render(&[]).is_none());
    }
}
