//! One line of the scripts' views of single events.

use std::fmt;

use crate::shown;

/// A call that returned, an operation or a batch that ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// Microseconds from the start of the trace to the end of what happened.
    pub time_us: u64,
    pub pid: u32,
    pub tid: u32,
    /// The process's name, as it may be shown.
    pub comm: String,
    /// The connection (address of its `SSL`) or the number of the operation or batch, or `-`.
    pub subject: String,
    pub what: String,
    /// How long it took, in microseconds.
    pub latency_us: Option<u64>,
    pub result: String,
}

/// Widths of the columns before the last, each followed by a space.
const WIDTHS: [usize; 7] = [12, 7, 7, 16, 18, 20, 10];

impl Event {
    /// Reads a line of a script, whose columns are as wide as their bytes; its times start
    /// `later_us` after the trace.
    pub(super) fn parse(line: &[u8], later_us: u64) -> Option<Self> {
        let mut rest = line.strip_suffix(b"\n").unwrap_or(line);
        let mut cells = [&b""[..]; WIDTHS.len()];
        for (cell, width) in cells.iter_mut().zip(WIDTHS) {
            *cell = rest.get(..width)?;
            rest = rest.get(width + 1..)?;
        }
        let [time, pid, tid, comm, subject, what, latency] = cells;
        let word = |cell: &[u8]| shown::bytes(cell.trim_ascii());
        let number = |cell: &[u8]| word(cell).parse().ok();
        let spaces = comm.iter().rev().take_while(|byte| **byte == b' ').count();
        Some(Self {
            time_us: number(time)? + later_us,
            pid: u32::try_from(number(pid)?).ok()?,
            tid: u32::try_from(number(tid)?).ok()?,
            comm: shown::bytes(&comm[..comm.len() - spaces]),
            subject: word(subject),
            what: word(what),
            latency_us: match latency.trim_ascii() {
                b"-" => None,
                latency => Some(number(latency)?),
            },
            result: word(rest),
        })
    }

    /// The titles over the columns.
    pub(super) fn titles() -> String {
        format!(
            "{:<12} {:<7} {:<7} {:<16} {:<18} {:<20} {:>10} RESULT",
            "TIME(us)", "PID", "TID", "COMM", "CONNECTION", "EVENT", "LAT(us)"
        )
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latency = match self.latency_us {
            Some(us) => us.to_string(),
            None => "-".to_owned(),
        };
        write!(
            f,
            "{:<12} {:<7} {:<7} {:<16} {:<18} {:<20} {latency:>10} {}",
            self.time_us, self.pid, self.tid, self.comm, self.subject, self.what, self.result
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "1464191      14830   14831   tls worker 1     55ce181046b0       handshake                  2023 later: read";

    #[test]
    fn a_line_is_read_and_written_alike() {
        let event = Event::parse(LINE.as_bytes(), 0).expect("a script's line");
        assert_eq!(
            (event.time_us, event.pid, event.tid),
            (1_464_191, 14830, 14831)
        );
        assert_eq!(
            (&*event.comm, &*event.result),
            ("tls worker 1", "later: read")
        );
        assert_eq!(event.latency_us, Some(2023));
        assert_eq!(event.to_string(), LINE);
        let later = Event::parse(LINE.as_bytes(), 9).expect("a script's line");
        assert_eq!(later.time_us, 1_464_200);
    }

    #[test]
    fn a_name_of_any_bytes_stays_in_its_row() {
        for (name, shown) in [
            (&b"caf\xe9         "[..], "caf\\xe9"),
            (b"x\norigin 5\n   ", "x\\norigin 5\\n"),
            (b"\x1b]0;pwned\x07   ", "\\u{1b}]0;pwned\\u{7}"),
            ("äöüäöüä".as_bytes(), "äöüäöüä"),
        ] {
            let mut line = LINE.as_bytes().to_vec();
            let column = 12 + 1 + 7 + 1 + 7 + 1;
            line[column..column + name.len()].copy_from_slice(name);
            let event = Event::parse(&line, 0).expect("a script's line");
            assert_eq!((&*event.comm, &*event.result), (shown, "later: read"));
            assert_eq!(event.to_string().lines().count(), 1);
        }
    }

    #[test]
    fn other_lines_are_no_events() {
        for line in [
            "",
            "origin 12345",
            &LINE[..60],
            &LINE.replace("2023", "20x3"),
        ] {
            assert_eq!(Event::parse(line.as_bytes(), 0), None, "{line}");
        }
    }
}
