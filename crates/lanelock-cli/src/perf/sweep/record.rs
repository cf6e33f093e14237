//! The form of `benchmarks/`: what was measured on, then a line of CSV for each cell.

use crate::figures::digits;
use crate::sweep::Sweep;

/// Lines that begin with `#`, a header, the cells. Times are nanoseconds for an operation.
pub fn render(sweep: &Sweep) -> String {
    let machine = &sweep.machine;
    let mut facts = vec![
        machine.cpu.clone(),
        format!(
            "{} cores, {}, Linux {}",
            machine.cores, machine.os, machine.kernel
        ),
        format!("native: {}", sweep.build),
        format!("openssl: {}", machine.openssl),
    ];
    let libraries = sweep.libraries.iter();
    facts.extend(libraries.map(|library| format!("{}: {}", library.contestant, library.version)));
    facts.extend(sweep.tier.iter().map(|tier| format!("all held to {tier}")));
    let facts: String = facts.iter().map(|fact| format!("# {fact}\n")).collect();

    let mut names = vec!["native"];
    names.extend(sweep.peers());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |line: &[String]| {
        let written = writer.write_record(line);
        written.expect("a vector takes every line of the same length");
    };
    let fixed = [
        "algorithm",
        "operation",
        "size",
        "sessions",
        "burst",
        "layout",
    ];
    let header = fixed.iter().chain(&names).chain(&["ratio"]);
    write(&header.map(|&name| name.to_owned()).collect::<Vec<_>>());
    for cell in &sweep.cells {
        let time = |(at, &name): (usize, &&str)| {
            // The first is the native engine, whatever it was told to do without.
            let time = match at {
                0 => cell.times.first(),
                _ => cell
                    .times
                    .iter()
                    .skip(1)
                    .find(|time| time.contestant == name),
            };
            time.map(|time| digits(time.ns_per_op)).unwrap_or_default()
        };
        let mut line = vec![
            cell.algorithm.clone(),
            cell.operation.clone(),
            cell.length(),
            cell.sessions.to_string(),
            cell.burst.to_string(),
            cell.layout.clone().unwrap_or_default(),
        ];
        line.extend(names.iter().enumerate().map(time));
        line.push(
            cell.ratio(None)
                .map(|ratio| format!("{ratio:.3}"))
                .unwrap_or_default(),
        );
        write(&line);
    }
    let bytes = writer.into_inner().expect("a vector is never full");
    facts + &String::from_utf8(bytes).expect("made of strings")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::{cell, sweep};

    #[test]
    fn every_peer_has_a_column_and_every_cell_a_line() {
        let cells = vec![cell(16, &[("a", 150.0)]), cell(64, &[("b", 80.0)])];
        let text = render(&sweep(cells));
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "algorithm,operation,size,sessions,burst,layout,native,a,b,ratio",
                "aes-128-cbc,encrypt,16,1,32,in-place,100,150,,1.500",
                "aes-128-cbc,encrypt,64,1,32,in-place,100,,80.0,0.800",
            ]
        );
        assert!(text.contains("# native: rustc\n"));
    }
}
