//! The page of a sweep: heat maps of ratios, one for each number of keys, burst and layout.

use std::collections::BTreeSet;

use lanelock::Algorithm;
use lanelock::algorithm::Spec;
use maud::{Markup, html};

use super::{Section, figure, list, page};
use crate::figures::{digits, number};
use crate::report::sweep::{IS_WORD, TITLES, WORST, row};
use crate::sweep::{Cell, NOISE, Sums, Sweep};

/// Upper ends of the shades, ratios, with what they are called. From orange over grey to blue, which
/// look different to everyone, and each cell has its ratio in figures.
const SHADES: [(f64, &str); 7] = [
    (0.7, "below 0.7"),
    (0.85, "0.7 to 0.85"),
    (NOISE, "0.85 to 0.97"),
    (1.03, "0.97 to 1.03"),
    (1.25, "1.03 to 1.25"),
    (1.6, "1.25 to 1.6"),
    (f64::INFINITY, "1.6 and more"),
];

/// The page as markup.
pub fn render(sweep: &Sweep) -> String {
    let machine = &sweep.machine;
    let mut facts = vec![
        ("CPU", machine.cpu.clone()),
        ("cores", machine.cores.to_string()),
        ("tier of all", sweep.tier.clone().unwrap_or_default()),
        ("build", sweep.build.clone()),
        ("system", machine.os.clone()),
        ("kernel", machine.kernel.clone()),
    ];
    let libraries = sweep.libraries.iter();
    facts.extend(libraries.map(|library| (&*library.contestant, library.version.clone())));
    let header = html! {
        h1 { "lanelock: sweep" }
        p { "Repeat it with " code { (sweep.command) } }
        (list(&facts))
    };
    page(
        &format!("lanelock beside its peers on {}", machine.cpu),
        &header,
        vec![summary(sweep), maps(sweep)],
        &worst(sweep),
    )
}

/// How many cells there are against each peer.
fn summary(sweep: &Sweep) -> Section {
    let peers = sweep.peers().into_iter().map(Some).chain([None]);
    let rows: Vec<_> = peers
        .filter_map(|peer| Some((peer.unwrap_or("the fastest peer"), sweep.sums(peer)?)))
        .collect();
    let map = html! {
        div.scroll { table.heat {
            tr { th {} th { "cells" } th { "median ratio" } th { "below 1" } th { "below " (NOISE) } }
            @for (name, Sums { cells, median, behind, clearly }) in &rows {
                tr {
                    th { (name) }
                    td.s3 { (cells) }
                    td class={ "s" (shade(*median)) } { (digits(*median)) }
                    td.s3 { (behind) }
                    td.s3 { (clearly) }
                }
            }
        } }
    };
    Section {
        title: "Cells",
        explanation: "A ratio is a peer's time divided by lanelock's: above 1, lanelock is faster.",
        charts: match rows.is_empty() {
            true => Vec::new(),
            false => vec![figure("Against whom", &[], &map)],
        },
    }
}

/// One map for each number of keys, burst and layout, in the order of the cells.
fn maps(sweep: &Sweep) -> Section {
    let mut maps: Vec<(String, Vec<&Cell>)> = Vec::new();
    for cell in sweep.cells.iter().filter(|cell| cell.ratio(None).is_some()) {
        put(&mut maps, title(cell), cell);
    }
    let legend = html! {
        ul.legend.wide { @for (at, (_, name)) in SHADES.iter().enumerate() {
            li { i class={ "shade s" (at) } {} (name) }
        } }
    };
    let maps: Vec<_> = maps
        .iter()
        .map(|(title, cells)| map(title, cells))
        .collect();
    Section {
        title: "Ratios to the fastest peer",
        explanation: "Lengths in bytes, or operations at a time, across. A cell's tooltip has the \
                      nanoseconds of everyone for an operation.",
        charts: match maps.is_empty() {
            true => maps,
            false => [legend].into_iter().chain(maps).collect(),
        },
    }
}

fn title(cell: &Cell) -> String {
    let (keys, plural) = (cell.sessions, if cell.sessions == 1 { "" } else { "s" });
    if is_public_key(cell) {
        return format!("Public keys, {keys} key{plural}");
    }
    let layout = match cell.layout.as_deref() {
        // Decryption with authentication always has one: it stands with the others.
        Some("separate") if cell.operation != "decrypt" || !is_authenticated(cell) => {
            ", separate output"
        }
        _ => "",
    };
    format!("Bursts of {}, {keys} key{plural}{layout}", cell.burst)
}

fn is_public_key(cell: &Cell) -> bool {
    cell.size == 0
}

/// Whether it is a chain's or an AEAD's.
fn is_authenticated(cell: &Cell) -> bool {
    let spec = cell.algorithm.parse::<Spec>();
    spec.is_ok_and(|spec| !matches!(spec.algorithm, Algorithm::Cipher(_)))
}

/// The column of a cell: its place and its title. A length and the next whole block share one.
fn column(cell: &Cell) -> (u64, String) {
    match (cell.size, &cell.imix) {
        (0, _) => (cell.burst, format!("{}", cell.burst)),
        (_, Some(_)) => (u64::MAX, "mix".to_owned()),
        (1500 | 1504, None) => (1500, "1500".to_owned()),
        (size, None) => (size, size.to_string()),
    }
}

/// Algorithms and operations down, lengths across.
fn map(title: &str, cells: &[&Cell]) -> Markup {
    let columns: BTreeSet<_> = cells.iter().map(|cell| column(cell)).collect();
    let mut rows: Vec<(String, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        put(
            &mut rows,
            format!("{} {}", cell.algorithm, cell.operation),
            cell,
        );
    }
    let table = html! {
        div.scroll {
            table.heat {
                tr { th {} @for (_, name) in &columns { th { (name) } } }
                @for (name, cells) in &rows {
                    tr {
                        th { (name) }
                        @for at in &columns {
                            @match cells.iter().find(|cell| column(cell) == *at) {
                                Some(cell) => (shaded(cell)),
                                None => { td {} }
                            }
                        }
                    }
                }
            }
        }
    };
    figure(title, &[], &table)
}

/// A ratio on its shade.
fn shaded(cell: &Cell) -> Markup {
    let ratio = cell.ratio(None).unwrap_or_default();
    let times = cell.times.iter().map(|time| {
        let route = time
            .route
            .as_ref()
            .map_or(String::new(), |route| format!(" ({route})"));
        format!("{} {} ns{route}", time.contestant, number(time.ns_per_op))
    });
    let title = format!(
        "{} {}: {}",
        cell.algorithm,
        cell.operation,
        times.collect::<Vec<_>>().join(", ")
    );
    html! { td class={ "s" (shade(ratio)) } title=(title) { (format!("{ratio:.2}")) } }
}

/// The number of the shade.
fn shade(ratio: f64) -> usize {
    let below = SHADES.iter().position(|&(end, _)| ratio < end);
    below.unwrap_or(SHADES.len() - 1)
}

/// Adds to the group of this name.
fn put<'c>(groups: &mut Vec<(String, Vec<&'c Cell>)>, name: String, cell: &'c Cell) {
    match groups.iter_mut().find(|(other, _)| *other == name) {
        Some((_, cells)) => cells.push(cell),
        None => groups.push((name, vec![cell])),
    }
}

/// The lowest ratios as a table.
fn worst(sweep: &Sweep) -> Markup {
    let worst = sweep.worst(WORST);
    html! {
        @if !worst.is_empty() {
            details open {
                summary { "The lowest ratios" }
                div.scroll {
                    table {
                        tr { @for title in TITLES { th { (title) } } }
                        @for cell in worst {
                            tr { @for (at, text) in row(cell).iter().enumerate() {
                                @if IS_WORD[at] { td.word { (text) } } @else { td { (text) } }
                            } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sweep::tests::{cell, sweep};

    /// A page with every shade, several maps and public keys.
    pub(in crate::report::html) fn page() -> String {
        let mut cells = Vec::new();
        for (n, algorithm) in [
            "aes-128-cbc",
            "aes-128-ctr+hmac-sha256",
            "chacha20-poly1305",
        ]
        .into_iter()
        .enumerate()
        {
            for (at, size) in [16, 64, 256, 576, 1024, 1500, 8192].into_iter().enumerate() {
                for (burst, layout) in [(1, "in-place"), (32, "in-place"), (32, "separate")] {
                    #[expect(clippy::cast_precision_loss, reason = "a test")]
                    let time = 50.0 + 20.0 * (n + at) as f64;
                    let mut cell = cell(size, &[("ipsec-mb", time), ("evp", 3.0 * time)]);
                    algorithm.clone_into(&mut cell.algorithm);
                    (cell.burst, cell.layout) = (burst, Some(layout.to_owned()));
                    cells.push(cell);
                }
            }
        }
        let mut mix = cell(355, &[("ipsec-mb", 120.0)]);
        mix.imix = Some("64:7,576:4,1504:1".to_owned());
        cells.push(mix);
        for burst in [1, 8, 64] {
            let mut key = cell(0, &[("openssl", 190.0), ("crypto-mb", 101.0)]);
            (key.algorithm, key.operation) = ("rsa-2048-sign".to_owned(), "public-key".to_owned());
            (key.burst, key.layout) = (burst, None);
            cells.push(key);
        }
        render(&sweep(cells))
    }

    #[test]
    fn every_cell_is_in_one_map_with_its_figures() {
        let html = page();
        assert_eq!(
            html.matches("<td class=\"s").count(),
            3 * 7 * 3 + 1 + 3 + 5 * 4
        );
        for title in [
            "Bursts of 1, 1 key",
            "Bursts of 32, 1 key, separate output",
            "Public keys, 1 key",
        ] {
            assert!(
                html.contains(&format!("<figcaption>{title}</figcaption>")),
                "{title}"
            );
        }
        assert!(html.contains("aes-128-cbc encrypt: native 100 ns, ipsec-mb 50 ns, evp 150 ns"));
        assert!(html.contains("The lowest ratios"));
    }

    #[test]
    fn shades_change_where_they_say() {
        let shades = [0.5, 0.7, 0.96, 0.97, 1.0, 1.03, 1.3, 2.0, f64::INFINITY].map(shade);
        assert_eq!(shades, [0, 1, 2, 3, 3, 4, 5, 6, 6]);
    }
}
