//! Single handshakes on a time line: calls, pauses, waits.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::scale::{Scale, Spread};
use super::text::{escape, number};
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
const WIDTH: f64 = 1120.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 70.0;
const ROW: f64 = 15.0;
const BAR: f64 = 9.0;
const BOTTOM: f64 = 26.0;

/// The chart of the first handshakes that ended; none if none did.
pub(super) fn render(events: &[Event]) -> Option<String> {
    let rows = handshakes(events);
    if rows.is_empty() {
        return None;
    }
    let ends = rows.iter().map(|row| float(row.length()));
    let x = Scale::covering(ends, Spread::Linear, (LEFT, WIDTH - RIGHT));
    #[expect(clippy::cast_precision_loss, reason = "at most 60 rows")]
    let bottom = rows.len() as f64 * ROW + 4.0;
    let mut svg = format!(
        "<figure style=\"grid-column: 1 / -1\"><figcaption>The first {}</figcaption>\n\
         <ul class=\"legend\"><li><i class=\"c{}\"></i>call</li><li><i class=\"c{}\"></i>paused \
         for an operation</li><li><i class=\"c{}\"></i>waiting for the peer</li></ul>\n\
         <svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"handshakes\">\n",
        rows.len(),
        Does::Call as u8,
        Does::Pause as u8,
        Does::Wait as u8,
        bottom + BOTTOM,
    );
    for &tick in x.ticks() {
        let at = x.at(tick);
        // Writing to a string succeeds, here and below.
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"0\" y2=\"{bottom}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            number(tick),
        );
    }
    let _ = writeln!(
        svg,
        "<text class=\"name\" x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">µs</text>",
        bottom + 16.0
    );
    let mut top = 2.0;
    for row in &rows {
        draw(row, top, &x, &mut svg);
        top += ROW;
    }
    Some(svg + "</svg></figure>\n")
}

fn draw(row: &Handshake, top: f64, x: &Scale, svg: &mut String) {
    let _ = writeln!(
        svg,
        "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{} at {:.3} s</text>",
        LEFT - 8.0,
        top + BAR,
        escape(&row.name),
        float(row.started_us) / 1e6,
    );
    for span in &row.spans {
        let (from, to) = (x.at(float(span.from)), x.at(float(span.to)));
        // A wait is a thin line between thick calls.
        let (y, height) = match span.does {
            Does::Wait => (top + BAR / 2.0 - 0.5, 1.0),
            Does::Call | Does::Pause => (top, BAR),
        };
        let _ = writeln!(
            svg,
            "<rect class=\"c{}\" x=\"{from:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{height}\">\
             <title>{:?}, {} µs</title></rect>",
            span.does as u8,
            (to - from).max(0.6),
            span.does,
            span.to - span.from,
        );
    }
    if let Some((_, said)) = &row.last {
        let _ = writeln!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x.at(float(row.length())) + 5.0,
            top + BAR,
            escape(said),
        );
    }
}

impl Handshake {
    fn length(&self) -> u64 {
        self.spans.last().map_or(0, |span| span.to)
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

#[expect(clippy::cast_precision_loss, reason = "microseconds below 2^52")]
fn float(value: u64) -> f64 {
    value as f64
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
        let lengths: Vec<_> = handshakes(&events).iter().map(Handshake::length).collect();
        assert_eq!(lengths, [10, 10]);
        assert!(render(&events).is_some() && render(&[]).is_none());
    }
}
